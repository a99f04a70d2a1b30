for(const b of document.querySelectorAll("th button"))b.onclick=()=>{
const th=b.parentElement,t=th.closest("table"),i=[...th.parentElement.children].indexOf(th);
const up=th.ariaSort!=="ascending",k=r=>r.children[i].dataset.k??r.children[i].textContent;
for(const o of th.parentElement.children)o.removeAttribute("aria-sort");
th.ariaSort=up?"ascending":"descending";
const rows=[...t.tBodies[0].rows].sort((x,y)=>{const a=k(x),c=k(y),d=a-c;
return(Number.isNaN(d)?a<c?-1:a>c?1:0:d)*(up?1:-1)});t.tBodies[0].append(...rows)}
