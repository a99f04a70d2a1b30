# Formula for Homebrew; the release workflow fills in version and hashes.
class Taintlab < Formula
  desc "Say what Kubernetes evicts, when and why"
  homepage "https://github.com/taintlab/taintlab"
  version "@VERSION@"
  license "Apache-2.0"

  RELEASE = "https://github.com/taintlab/taintlab/releases/download/v#{version}".freeze

  on_macos do
    on_arm do
      url "#{RELEASE}/taintlab-aarch64-apple-darwin.tar.gz"
      sha256 "@SHA256:aarch64-apple-darwin@"
    end
    on_intel do
      url "#{RELEASE}/taintlab-x86_64-apple-darwin.tar.gz"
      sha256 "@SHA256:x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "#{RELEASE}/taintlab-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "#{RELEASE}/taintlab-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256:x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "taintlab"
    bin.install_symlink bin/"taintlab" => "kubectl-taintlab"
    generate_completions_from_executable(bin/"taintlab", "completions")
    (man1/"taintlab.1").write Utils.safe_popen_read(bin/"taintlab", "man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/taintlab --version")
  end
end
