// All dashboards on one page that needs nothing else: no script, no font, no request.
import { escaped } from './draw.ts'

export interface DrawnBoard {
  readonly uid: string
  readonly title: string
  readonly about: string
  readonly rows: readonly {
    readonly title: string
    readonly panels: readonly {
      readonly title: string
      readonly says: string
      readonly width: number
      readonly drawing: string
    }[]
  }[]
}

const STYLE = `
:root { color-scheme: light dark; --bg: #f6f7f9; --surface: #fff; --border: #d5dae1; --text: #141a22; --muted: #55606e;
  --ok: #17703f; --warn: #8a5200; --bad: #b42318; --accent: #0b6b74;
  --c0: #1d5fbf; --c1: #b35c00; --c2: #17703f; --c3: #b42318; --c4: #6941c6; --c5: #0b6b74; --c6: #9d174d; --c7: #5b6472 }
@media (prefers-color-scheme: dark) { :root { --bg: #0e1217; --surface: #151a21; --border: #2b3440; --text: #e8ecf1; --muted: #a0abb8;
  --ok: #5bd08c; --warn: #f2b84b; --bad: #ff8f85; --accent: #4cc3ce;
  --c0: #86b7ff; --c1: #f2b84b; --c2: #5bd08c; --c3: #ff8f85; --c4: #c3aef7; --c5: #4cc3ce; --c6: #f9a8d4; --c7: #a0abb8 } }
* { box-sizing: border-box } body { margin: 0; padding: 24px; background: var(--bg); color: var(--text);
  font: 14px/20px system-ui, sans-serif; font-variant-numeric: tabular-nums }
main { max-width: 1440px; margin: 0 auto } h1 { font-size: 22px; line-height: 28px; margin: 32px 0 4px }
h2 { font-size: 14px; margin: 20px 0 8px; color: var(--muted) } p { margin: 0 0 8px; color: var(--muted) }
nav a { color: var(--accent); margin-right: 16px }
.row { display: grid; grid-template-columns: repeat(24, 1fr); gap: 12px }
section { background: var(--surface); border: 1px solid var(--border); border-radius: 10px; padding: 12px 14px; min-width: 0 }
section h3 { font-size: 14px; margin: 0 } section > p { font-size: 12px; line-height: 16px }
figure { margin: 0; position: relative } figure svg { width: 100%; height: 160px; display: block; border-bottom: 1px solid var(--border) }
.top { position: absolute; left: 0; top: -2px; font-size: 11px; color: var(--muted); background: var(--surface); padding-right: 4px }
polyline { fill: none; stroke-width: 1.6; stroke-linecap: round; vector-effect: non-scaling-stroke }
line { vector-effect: non-scaling-stroke; stroke-dasharray: 4 4 } line.warn { stroke: var(--warn) } line.bad { stroke: var(--bad) }
rect { fill: var(--c0) } .heat { display: flex; gap: 6px } .heat svg { flex: 1; min-width: 0 }
.edges { display: flex; flex-direction: column; justify-content: space-around; font-size: 10px; line-height: 10px; color: var(--muted); text-align: right }
${Array.from({ length: 8 }, (_, index) => `polyline.c${index} { stroke: var(--c${index}) } polygon.c${index}, s.c${index} { fill: var(--c${index}); background: var(--c${index}) }`).join('\n')}
s { display: inline-block; width: 10px; height: 3px; margin: 0 6px 3px 0 }
table { width: 100%; border-collapse: collapse; font-size: 12px; line-height: 18px } td, th { text-align: left; padding: 0 8px 0 0; font-weight: 400 }
th { color: var(--muted) } td + td, th + th { text-align: right; white-space: nowrap } td:first-child { overflow-wrap: anywhere }
.figures { display: flex; flex-wrap: wrap; gap: 12px 28px } .figure b { display: block; font-size: 22px; line-height: 30px; font-weight: 600 }
.figure span { font-size: 12px; color: var(--muted) } .ok b { color: var(--ok) } .warn b { color: var(--warn) } .bad b { color: var(--bad) }
.bar { display: grid; grid-template-columns: 9em 1fr 5em; gap: 8px; align-items: center; font-size: 12px } .bar b { text-align: right }
.bar i { height: 10px; background: var(--border); border-radius: 3px; overflow: hidden } .bar em { display: block; height: 100%; background: var(--ok) }
.bar.warn em { background: var(--warn) } .bar.bad em { background: var(--bad) }
.none { color: var(--bad) } .nothing { color: var(--ok) }
@media (max-width: 900px) { body { padding: 12px } .row { grid-template-columns: 1fr } .row section { grid-column: auto !important } }`

export function page(boards: readonly DrawnBoard[], told: string): string {
  const links = boards.map(({ uid, title }) => `<a href="#${uid}">${escaped(title)}</a>`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Baton: dashboards</title><style>${STYLE}</style></head>
<body><main><nav>${links.join('')}</nav><p>${escaped(told)}</p>
${boards.map(boardSection).join('\n')}
</main></body></html>
`
}

function boardSection({ uid, title, about, rows }: DrawnBoard): string {
  const drawn = rows.map(
    (row) =>
      `<h2>${escaped(row.title)}</h2><div class="row">${row.panels.map(panelSection).join('')}</div>`,
  )
  return `<h1 id="${uid}">${escaped(title)}</h1><p>${escaped(about)}</p>${drawn.join('\n')}`
}

function panelSection({
  title,
  says,
  width,
  drawing,
}: DrawnBoard['rows'][number]['panels'][number]) {
  return `<section style="grid-column: span ${width}"><h3>${escaped(title)}</h3><p>${escaped(says)}</p>${drawing}</section>\n`
}
