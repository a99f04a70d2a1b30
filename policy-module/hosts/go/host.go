// Asks the policy module through wazero: host MODULE REQUESTS. With --vectors, host --vectors MODULE
// FOLDER compares it with Kubernetes' recorded answers, by the runner that others copy.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// Policy is the module, after docs/policy-module.md.
type Policy struct {
	context.Context
	module            api.Module
	alloc, call, free api.Function
}

// New starts a module, which asks for nothing of its host.
func New(ctx context.Context, bytes []byte) (*Policy, error) {
	module, err := wazero.NewRuntime(ctx).Instantiate(ctx, bytes)
	if err != nil {
		return nil, err
	}
	version, err := module.ExportedFunction("version").Call(ctx)
	if err != nil || version[0] != 1 {
		return nil, fmt.Errorf("another contract: %v, %v", version, err)
	}
	function := module.ExportedFunction
	return &Policy{ctx, module, function("alloc"), function("call"), function("free")}, nil
}

// Ask returns the answer to a request, both in JSON.
func (p *Policy) Ask(request []byte, limit uint64) ([]byte, error) {
	length := uint64(len(request))
	pointer, err := p.alloc.Call(p, length)
	if err != nil || pointer[0] == 0 {
		return nil, fmt.Errorf("no memory for %d bytes: %v", length, err)
	}
	p.module.Memory().Write(uint32(pointer[0]), request)
	packed, err := p.call.Call(p, pointer[0], length, limit)
	if err != nil {
		return nil, err
	}
	view, ok := p.module.Memory().Read(uint32(packed[0]>>32), uint32(packed[0]))
	if !ok {
		return nil, fmt.Errorf("no answer in memory")
	}
	answer := append([]byte(nil), view...)
	_, err = p.free.Call(p, packed[0]>>32)
	return answer, err
}

// object is one of JSON.
type object = map[string]any

// lines is a Reporter that prints, and counts what is wrong.
type lines struct {
	wrong int
	quiet bool
}

func (l *lines) Logf(format string, arguments ...any) {
	if !l.quiet {
		fmt.Printf(format+"\n", arguments...)
	}
}

func (l *lines) Errorf(format string, arguments ...any) {
	l.wrong++
	l.Logf(format, arguments...)
}

// compare compares the module's answers with the recorded ones.
func compare(module, folder string) {
	bytes, err := os.ReadFile(module)
	check(err)
	policy, err := New(context.Background(), bytes)
	check(err)
	ask := func(request object, answer any) error {
		bytes, err := json.Marshal(request)
		if err != nil {
			return err
		}
		if bytes, err = policy.Ask(bytes, 0); err != nil {
			return err
		}
		return json.Unmarshal(bytes, answer)
	}
	tolerates := func(c object) (any, error) {
		gates := object{"TaintTolerationComparisonOperators": c["enable_comparison_operators"] == true}
		var found struct {
			Taints []struct{ TolerationIndex *int }
		}
		err := ask(object{
			"function": "match", "taints": []any{c["taint"]}, "tolerations": []any{c["toleration"]},
			"options": object{"release": "1.36", "featureGates": gates},
		}, &found)
		if err != nil || len(found.Taints) != 1 {
			return nil, fmt.Errorf("no answer: %v", err)
		}
		return object{"tolerates": found.Taints[0].TolerationIndex != nil}, nil
	}
	report := &lines{}
	for _, family := range []string{"tolerates", "tolerates-numeric", "tolerates_1.36"} {
		Run(report, folder, family, tolerates)
	}
	if report.wrong > 0 {
		log.Fatalf("%d differences", report.wrong)
	}
	wrong := &lines{quiet: true}
	Run(wrong, folder, "tolerates", func(object) (any, error) { return object{"tolerates": true}, nil })
	if wrong.wrong != 4 {
		log.Fatalf("a wrong entry has %d errors", wrong.wrong)
	}
}

func main() {
	if os.Args[1] == "--vectors" {
		compare(os.Args[2], os.Args[3])
		return
	}
	bytes, err := os.ReadFile(os.Args[1])
	check(err)
	policy, err := New(context.Background(), bytes)
	check(err)
	requests, err := os.Open(os.Args[2])
	check(err)
	lines, count := bufio.NewScanner(requests), 0
	lines.Buffer(nil, 1<<24)
	for ; lines.Scan(); count++ {
		var vector struct{ Request, Answer string }
		check(json.Unmarshal(lines.Bytes(), &vector))
		answer, err := policy.Ask([]byte(vector.Request), 0)
		check(err)
		if string(answer) != vector.Answer {
			log.Fatalf("%+v\n%s", vector, answer)
		}
	}
	check(lines.Err())
	fmt.Printf("Go: %d answers, the same bytes\n", count)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
