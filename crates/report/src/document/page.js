'use strict';
const form = document.getElementById('filter');
const text = document.getElementById('text');
const finding = document.getElementById('finding');
const shown = document.getElementById('shown');
const all = [...document.querySelectorAll('tbody')].map(row => ({
  row,
  text: row.textContent.toLowerCase(),
  findings: row.dataset.findings.split(' '),
}));
const filter = () => {
  const wanted = text.value.trim().toLowerCase();
  let count = 0;
  for (const one of all) {
    const fits = one.text.includes(wanted) && (!finding.value || one.findings.includes(finding.value));
    one.row.hidden = !fits;
    count += fits;
  }
  shown.textContent = `${count} of ${all.length} shown`;
};
for (const { row } of all) {
  const button = row.querySelector('button');
  const more = row.querySelector('.more');
  const open = is => {
    button.setAttribute('aria-expanded', is);
    more.hidden = !is;
  };
  button.addEventListener('click', () => open(more.hidden));
  open(false);
}
const order = new Intl.Collator('en', { numeric: true });
for (const head of document.querySelectorAll('thead th')) {
  head.firstElementChild.addEventListener('click', () => {
    const table = head.closest('table');
    const rises = head.getAttribute('aria-sort') !== 'ascending';
    for (const other of head.parentElement.children) other.setAttribute('aria-sort', 'none');
    head.setAttribute('aria-sort', rises ? 'ascending' : 'descending');
    const key = row => row.rows[0].cells[head.cellIndex].textContent.trim();
    const rows = [...table.tBodies].sort((one, other) => order.compare(key(one), key(other)) * (rises ? 1 : -1));
    table.append(...rows);
  });
}
document.body.classList.add('scripted');
form.hidden = false;
form.addEventListener('input', filter);
form.addEventListener('submit', event => event.preventDefault());
filter();
