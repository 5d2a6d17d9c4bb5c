// How it is looked at: scrolled by the browser, zoomed by us.
let scale = 1;
const bounded = (to) => Math.min(4, Math.max(0.05, to));
function zoom(to, x = canvas.clientWidth / 2, y = canvas.clientHeight / 2) {
  const next = bounded(to);
  const from = [(canvas.scrollLeft + x) / scale, (canvas.scrollTop + y) / scale];
  scale = next;
  svg.setAttribute('width', box.width * scale);
  svg.setAttribute('height', box.height * scale);
  canvas.scrollLeft = from[0] * scale - x;
  canvas.scrollTop = from[1] * scale - y;
  byId('zoom-is').textContent = Math.round(scale * 100) + ' %';
  keep();
  remember();
}
// The versions stay at the left, and the name of a channel above what is seen of it.
function keep(left = canvas.scrollLeft / scale, top = box.y + canvas.scrollTop / scale) {
  for (const each of [axis, asides]) each.setAttribute('transform', `translate(${left} 0)`);
  svg.classList.toggle('aside-scrolled', left > 1);
  for (const span of spans.values()) {
    const down = Math.min(Math.max(0, top - span.top - span.down), Math.max(0, span.room));
    span.heading.setAttribute('transform', `translate(0 ${span.down + down})`);
    span.heading.classList.toggle('moved', down > 0);
  }
}
canvas.addEventListener('scroll', () => keep(), {passive: true});
canvas.addEventListener('wheel', (event) => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  const {left, top} = canvas.getBoundingClientRect();
  zoom(scale * Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top);
}, {passive: false});
let held = null;
canvas.addEventListener('pointerdown', (event) => {
  if (event.button !== 0 || event.pointerType !== 'mouse' || event.target.closest('.pill,.fold')) return;
  held = {x: event.clientX + canvas.scrollLeft, y: event.clientY + canvas.scrollTop};
  canvas.classList.add('grabbing');
});
addEventListener('pointermove', (event) => {
  if (held) canvas.scrollTo(held.x - event.clientX, held.y - event.clientY);
});
addEventListener('pointerup', () => { held = null; canvas.classList.remove('grabbing'); });
let pinch = null;
const apart = (touches) => Math.hypot(touches[0].clientX - touches[1].clientX, touches[0].clientY - touches[1].clientY);
canvas.addEventListener('touchstart', (event) => {
  if (event.touches.length === 2) pinch = {apart: apart(event.touches), scale};
}, {passive: true});
canvas.addEventListener('touchmove', (event) => {
  if (!pinch || event.touches.length !== 2) return;
  event.preventDefault();
  const {left, top} = canvas.getBoundingClientRect(), [a, b] = event.touches;
  zoom(pinch.scale * apart(event.touches) / pinch.apart, (a.clientX + b.clientX) / 2 - left, (a.clientY + b.clientY) / 2 - top);
}, {passive: false});
canvas.addEventListener('touchend', () => { pinch = null; });
const across = () => canvas.clientWidth / box.width, down = () => canvas.clientHeight / box.height;
byId('zoom-in').addEventListener('click', () => zoom(scale * 1.25));
byId('zoom-out').addEventListener('click', () => zoom(scale / 1.25));
byId('zoom-is').addEventListener('click', () => zoom(1));
byId('zoom-fit').addEventListener('click', () => { zoom(Math.min(across(), down())); canvas.scrollTo(0, 0); });
// A scroll bar may come with the first and take some of the width.
byId('zoom-width').addEventListener('click', () => { zoom(across()); zoom(across()); });
const isDark = () => document.documentElement.dataset.theme
  ? document.documentElement.dataset.theme === 'dark'
  : matchMedia('(prefers-color-scheme: dark)').matches;
byId('theme').addEventListener('click', () => {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
});

