// Saving: the whole picture as it is, with what is chosen and folded.
const FILE = (svg.querySelector('title').textContent.replace(/[^\w.-]+/g, '-').slice(0, 80) || 'package') + '-graph';
function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
// While it is saved nothing is moved by scrolling or cut off.
function still(then) {
  const {y, height} = box;
  svg.setAttribute('viewBox', `0 0 ${box.width} ${y + height}`);
  delete svg.dataset.page;
  keep(0, 0);
  try { return then(); } finally {
    svg.setAttribute('viewBox', `0 ${y} ${box.width} ${height}`);
    svg.dataset.page = '';
    keep();
  }
}
function asSvg() {
  const copy = svg.cloneNode(true);
  copy.setAttribute('role', 'img');
  copy.setAttribute('width', box.width);
  copy.setAttribute('height', box.height);
  copy.dataset.theme = isDark() ? 'dark' : 'light';
  for (const each of copy.querySelectorAll('[tabindex]')) for (const name of ['tabindex', 'role', 'aria-label', 'aria-expanded']) each.removeAttribute(name);
  for (const each of copy.querySelectorAll('.folded')) each.remove();
  const own = [...document.styleSheets[0].cssRules].filter((rule) => /^\.(remark|fold)/.test(rule.selectorText));
  copy.querySelector('style').after(drawn('style', {}, own.map((rule) => rule.cssText).join('\n')));
  return new XMLSerializer().serializeToString(copy);
}
// The page may load no image, not even its own picture: it is painted shape by shape.
function paint(brush, shape, alpha) {
  const look = getComputedStyle(shape);
  if (look.display === 'none' || shape.matches('title,desc,style')) return;
  const own = alpha * look.opacity, is = (name) => shape.localName === name;
  brush.save();
  const moved = shape.transform.baseVal.consolidate();
  if (moved && shape !== svg) brush.translate(moved.matrix.e, moved.matrix.f);
  const path = new Path2D(is('path') ? shape.getAttribute('d') : '');
  const [x, y, width, height, r] = ['x', 'y', 'width', 'height', 'rx'].map((name) => attribute(shape, name));
  if (is('rect')) path.roundRect(x, y, width, height, Math.min(r, height / 2));
  if (is('circle')) path.arc(attribute(shape, 'cx'), attribute(shape, 'cy'), attribute(shape, 'r'), 0, 7);
  if (look.fill !== 'none' && !is('g')) {
    brush.globalAlpha = own * look.fillOpacity;
    brush.fillStyle = look.fill;
    if (is('text')) write(brush, shape, look);
    else brush.fill(path);
  }
  if (look.stroke !== 'none' && !is('g') && !is('text')) {
    Object.assign(brush, {globalAlpha: own, strokeStyle: look.stroke, lineWidth: parseFloat(look.strokeWidth), lineCap: look.strokeLinecap, lineJoin: look.strokeLinejoin});
    brush.setLineDash(look.strokeDasharray === 'none' ? [] : look.strokeDasharray.split(',').map(parseFloat));
    brush.stroke(path);
  }
  for (const child of is('text') ? [] : shape.children) paint(brush, child, own);
  brush.restore();
}
function write(brush, text, look) {
  const [x, y, size] = ['x', 'y', 'font-size'].map((name) => attribute(text, name));
  brush.font = `${look.fontStyle} ${look.fontWeight} ${size}px ${look.fontFamily}`;
  brush.textAlign = {middle: 'center', end: 'right'}[text.getAttribute('text-anchor')] ?? 'left';
  brush.fillText(text.textContent, x, y);
  if (!look.textDecorationLine.includes('line-through')) return;
  const {x: left, width} = text.getBBox();
  brush.fillRect(left, y - size * 0.33, width, 1);
}
const LARGEST = 16000, SHARP = 2;
function asPng(then) {
  const made = document.createElement('canvas'), sharp = Math.min(SHARP, LARGEST / box.width, LARGEST / box.height);
  made.width = box.width * sharp;
  made.height = box.height * sharp;
  const brush = made.getContext('2d');
  brush.scale(sharp, sharp);
  for (const child of svg.children) paint(brush, child, 1);
  made.toBlob(then, 'image/png');
}
byId('save-svg').addEventListener('click', () => save(new Blob([still(asSvg)], {type: 'image/svg+xml'}), FILE + '.svg'));
byId('save-png').addEventListener('click', () => still(() => asPng((blob) => { if (blob) save(blob, FILE + '.png'); })));

