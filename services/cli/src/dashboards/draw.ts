// One panel's answer as SVG or as a table: pure text, no script, read in print as on a screen.
import type { Line, Period } from './ask-prometheus.ts'
import { inUnit } from './units.ts'

export interface Drawing {
  readonly shape: 'figures' | 'bars' | 'lines' | 'areas' | 'heat' | 'table'
  readonly unit: string
  readonly warnsAt?: number | undefined
  readonly badAt?: number | undefined
  readonly period: Period
}

export const escaped = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`)

const WIDTH = 600
const HEIGHT = 160
/** Hues that are told apart in both themes; a ninth line begins anew. */
const LINE_COLOURS = 8
const SHOWN_MAX = 12

export function draw(lines: readonly Line[], drawing: Drawing): string {
  if (lines.length === 0) return '<p class="none">no data in this time</p>'
  if (drawing.shape === 'figures') return figures(lines, drawing)
  if (drawing.shape === 'bars') return bars(lines, drawing)
  if (drawing.shape === 'table') return table(lines, drawing)
  if (drawing.shape === 'heat') return heat(lines, drawing)
  return plot(lines, drawing)
}

/** The value at the last step of the period; of what was over before it, not a number. */
function newest({ points }: Line, { toSeconds, stepSeconds }: Period): number {
  const [seconds, value] = points.at(-1) ?? [Number.NaN, Number.NaN]
  return seconds > toSeconds - stepSeconds ? value : Number.NaN
}

/** The class of a value by the panel's thresholds. */
function judged(value: number, { warnsAt, badAt }: Drawing): string {
  if (badAt === undefined || Number.isNaN(value)) return 'plain'
  const isLessWorse = warnsAt !== undefined && badAt < warnsAt
  if (isLessWorse ? value < badAt : value >= badAt) return 'bad'
  if (warnsAt !== undefined && (isLessWorse ? value < warnsAt : value >= warnsAt)) return 'warn'
  return 'ok'
}

function figures(lines: readonly Line[], drawing: Drawing): string {
  const cells = lines.map((line) => {
    const value = newest(line, drawing.period)
    return `<div class="figure ${judged(value, drawing)}"><b>${inUnit(value, drawing.unit)}</b><span>${escaped(line.name)}</span></div>`
  })
  return `<div class="figures">${cells.join('')}</div>`
}

function bars(lines: readonly Line[], drawing: Drawing): string {
  const rows = lines.map((line) => {
    const value = newest(line, drawing.period)
    const filled = Math.round(Math.min(Math.max(value || 0, 0), 1) * 100)
    return `<div class="bar ${judged(value, drawing)}"><span>${escaped(line.name)}</span><i><em style="width:${filled}%"></em></i><b>${inUnit(value, drawing.unit)}</b></div>`
  })
  return rows.join('')
}

function table(lines: readonly Line[], { unit, period }: Drawing): string {
  const own = lines
    .map((line) => ({ name: line.name, value: newest(line, period) }))
    .filter(({ name, value }) => name.trim() !== '' && value > 0)
  if (own.length === 0) return '<p class="nothing">nothing</p>'
  const rows = own
    .toSorted((a, b) => b.value - a.value)
    .map(({ name, value }) => `<tr><td>${escaped(name)}</td><td>${inUnit(value, unit)}</td></tr>`)
  return `<table>${rows.join('')}</table>`
}

interface Scale {
  readonly highest: number
  x(seconds: number): number
  y(value: number): number
}

function scaleOf(highest: number, lowest: number, { fromSeconds, toSeconds }: Period): Scale {
  const bottom = Math.min(0, lowest)
  const height = highest - bottom || 1
  return {
    highest: bottom + height,
    x: (seconds) => ((seconds - fromSeconds) / (toSeconds - fromSeconds)) * WIDTH,
    y: (value) => HEIGHT - ((value - bottom) / height) * (HEIGHT - 8),
  }
}

const rounded = (number: number): string => number.toFixed(1)

function plot(lines: readonly Line[], drawing: Drawing): string {
  const shown = lines.slice(0, SHOWN_MAX)
  const stacked = drawing.shape === 'areas' ? stack(shown) : shown
  const values = stacked.flatMap(({ points }) => points.map(([, value]) => value))
  const scale = scaleOf(Math.max(...values, 0), Math.min(...values, 0), drawing.period)
  const paths = stacked.map((line, index) => path(line, { index, scale, drawing }))
  // What lies below another area is drawn after it.
  if (drawing.shape === 'areas') paths.reverse()
  return `<figure><span class="top">${inUnit(scale.highest, drawing.unit)}</span>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img">${grid(drawing, scale)}${paths.join('')}</svg></figure>
${legend(shown, drawing, lines.length)}`
}

function path(
  { points }: Line,
  { index, scale, drawing }: { index: number; scale: Scale; drawing: Drawing },
): string {
  const colour = index % LINE_COLOURS
  const ground = rounded(scale.y(0))
  const pieces = withoutGaps(points, drawing.period).map((piece) => {
    const at = piece.map(
      ([seconds, value]) => `${rounded(scale.x(seconds))},${rounded(scale.y(value))}`,
    )
    // The last point twice: one that stands alone is a dot.
    if (drawing.shape !== 'areas')
      return `<polyline class="c${colour}" points="${at.join(' ')} ${at.at(-1)}"/>`
    const [from, to] = [piece[0], piece.at(-1)].map((end) => rounded(scale.x(end?.[0] ?? 0)))
    return `<polygon class="c${colour}" points="${from},${ground} ${at.join(' ')} ${to},${ground}"/>`
  })
  return pieces.join('')
}

/** Points of consecutive steps together: between the others nothing was measured. */
function withoutGaps(points: Line['points'], { stepSeconds }: Period): Line['points'][] {
  const starts = points.flatMap(([seconds], index) =>
    index === 0 || seconds - (points[index - 1]?.[0] ?? 0) > stepSeconds ? [index] : [],
  )
  return starts.map((start, index) => points.slice(start, starts[index + 1]))
}

/** Each line on top of those before it. */
function stack(lines: readonly Line[]): Line[] {
  const sums = new Map<number, number>()
  return lines.map((line) => ({
    ...line,
    points: line.points.map(([seconds, value]) => {
      const sum = (sums.get(seconds) ?? 0) + value
      sums.set(seconds, sum)
      return [seconds, sum] as const
    }),
  }))
}

function grid({ badAt, warnsAt }: Drawing, scale: Scale): string {
  const limits = [
    [warnsAt, 'limit warn'],
    [badAt, 'limit bad'],
  ] as const
  return limits
    .filter(([value]) => value !== undefined && value <= scale.highest)
    .map(([value, name]) => {
      const y = rounded(scale.y(value ?? 0))
      return `<line class="${name}" x1="0" x2="${WIDTH}" y1="${y}" y2="${y}"/>`
    })
    .join('')
}

function legend(lines: readonly Line[], { unit, period }: Drawing, all: number): string {
  const rows = lines.map((line, index) => {
    const highest = Math.max(...line.points.map(([, value]) => value))
    return `<tr><td><s class="c${index % LINE_COLOURS}"></s>${escaped(line.name) || '(none)'}</td><td>${inUnit(newest(line, period), unit)}</td><td>${inUnit(highest, unit)}</td></tr>`
  })
  const more = all > lines.length ? `<tr><td>… ${all - lines.length} more</td></tr>` : ''
  return `<table class="legend"><tr><th></th><th>now</th><th>highest</th></tr>${rows.join('')}${more}</table>`
}

/** Buckets come summed up from below: what is in one is what it has more than the one under it. */
function heat(lines: readonly Line[], drawing: Drawing): string {
  const sorted = lines.toSorted((a, b) => Number(edgeOf(a)) - Number(edgeOf(b)))
  const own = sorted.map((line, index) => {
    const below = new Map(sorted[index - 1]?.points)
    return line.points.map(
      ([seconds, value]) => [seconds, Math.max(0, value - (below.get(seconds) ?? 0))] as const,
    )
  })
  const most = Math.max(...own.flat().map(([, count]) => count), 1)
  const { fromSeconds, toSeconds, stepSeconds } = drawing.period
  const width = (WIDTH * stepSeconds) / (toSeconds - fromSeconds)
  const height = HEIGHT / sorted.length
  const cells = own.flatMap((points, row) =>
    points
      .filter(([, count]) => count > 0.5)
      .map(([seconds, count]) => {
        const x = ((seconds - fromSeconds) / (toSeconds - fromSeconds)) * WIDTH - width
        const y = HEIGHT - (row + 1) * height
        return `<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}" opacity="${(0.15 + 0.85 * Math.sqrt(count / most)).toFixed(2)}"/>`
      }),
  )
  const edges = sorted
    .toReversed()
    .map(
      (line) =>
        `<span>${edgeOf(line) === 'Infinity' ? 'more' : inUnit(Number(edgeOf(line)), 's')}</span>`,
    )
  return `<figure class="heat"><div class="edges">${edges.join('')}</div>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img">${cells.join('')}</svg></figure>`
}

const edgeOf = ({ labels }: Line): string => (labels['le'] ?? '').replace('+Inf', 'Infinity')
