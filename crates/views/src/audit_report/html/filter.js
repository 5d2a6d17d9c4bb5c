'use strict';
const form = document.getElementById('filter');
const text = document.getElementById('text');
const finding = document.getElementById('finding');
const shown = document.getElementById('shown');
const all = [...document.querySelectorAll('article')].map(article => ({
  article,
  text: article.textContent.toLowerCase(),
  findings: article.dataset.findings.split(' '),
}));
const filter = () => {
  const wanted = text.value.trim().toLowerCase();
  let count = 0;
  for (const one of all) {
    const fits = one.text.includes(wanted) && (!finding.value || one.findings.includes(finding.value));
    one.article.hidden = !fits;
    count += fits;
  }
  shown.textContent = `${count} of ${all.length} shown`;
};
form.hidden = false;
form.addEventListener('input', filter);
form.addEventListener('submit', event => event.preventDefault());
filter();
