// Panels drawn as text: names are escaped, thresholds judge both ways, buckets are told apart, nothing is made up.
import { describe, expect, it } from 'vitest'
import type { Line } from './ask-prometheus.ts'
import { draw } from './draw.ts'
import type { Drawing } from './draw.ts'
import { inUnit } from './units.ts'

const period = { fromSeconds: 0, toSeconds: 100, stepSeconds: 50 }
const drawing = (shape: Drawing['shape'], more: Partial<Drawing> = {}): Drawing => ({
  shape,
  unit: 'short',
  period,
  ...more,
})
/** Ends with the period, a value each step. */
const line = (name: string, ...values: readonly number[]): Line => ({
  name,
  labels: { le: name },
  points: values.map((value, index) => [100 - (values.length - 1 - index) * 50, value]),
})

describe('a panel', () => {
  it('says that it has no data', () => {
    for (const shape of ['figures', 'bars', 'lines', 'areas', 'heat', 'table'] as const)
      expect(draw([], drawing(shape))).toContain('no data')
  })

  it('escapes what a label says', () => {
    for (const shape of ['figures', 'bars', 'lines', 'areas', 'table'] as const) {
      const drawn = draw([line('<script>&"', 1)], drawing(shape))
      expect(drawn).not.toContain('<script>')
      expect(drawn).toContain('&#60;script&#62;&#38;&#34;')
    }
  })

  it('judges a value by its thresholds, whichever side is the bad one', () => {
    const judged = (value: number, warnsAt: number, badAt: number) =>
      /figure (\w+)/.exec(draw([line('x', value)], drawing('figures', { warnsAt, badAt })))?.[1]
    expect([1, 10, 30].map((value) => judged(value, 10, 30))).toEqual(['ok', 'warn', 'bad'])
    expect([0.5, 0.1, -1].map((value) => judged(value, 0.25, 0))).toEqual(['ok', 'warn', 'bad'])
  })

  it('stacks areas on each other', () => {
    const drawn = draw([line('a', 1, 1), line('b', 3, 3)], drawing('areas'))
    expect(drawn).toContain('<span class="top">4</span>')
  })

  it('shows as of now only what the newest measure still has', () => {
    const over: Line = { name: 'over', labels: {}, points: [[0, 7]] }
    expect(draw([over], drawing('table'))).toContain('nothing')
    expect(draw([over, line('on', 7, 8)], drawing('table'))).not.toContain('over')
    expect(draw([over], drawing('figures'))).toContain('<b>–</b>')
    expect(draw([over], drawing('lines'))).toContain('over</td><td>–</td><td>7</td>')
  })

  it('takes the last step for now where steps do not divide the time', () => {
    const uneven = { fromSeconds: 0, toSeconds: 120, stepSeconds: 50 }
    expect(draw([line('on', 8)], drawing('table', { period: uneven }))).toContain('on')
  })

  it('draws no line where nothing was measured', () => {
    const gap: Line = {
      name: 'gap',
      labels: {},
      points: [0, 10, 40, 50].map((seconds) => [seconds, 1] as const),
    }
    const finer = { fromSeconds: 0, toSeconds: 50, stepSeconds: 10 }
    const count = (shape: Drawing['shape'], tag: RegExp) =>
      draw([gap], drawing(shape, { period: finer })).match(tag)?.length
    expect([count('lines', /<polyline/g), count('areas', /<polygon/g)]).toEqual([2, 2])
  })

  it('draws of a bucket only what the one below it has not', () => {
    const drawn = draw([line('1', 0, 5), line('+Inf', 0, 5), line('0.1', 0, 2)], drawing('heat'))
    expect(drawn.match(/<rect/g)).toHaveLength(2)
    expect(drawn).toContain('<span>more</span><span>1 s</span><span>100 ms</span>')
  })

  it('lists the highest first, and nothing that is nothing', () => {
    const drawn = draw(
      [line('low', 1), line('high', 2), line('', 3), line('off', 0)],
      drawing('table'),
    )
    expect(drawn.indexOf('high')).toBeLessThan(drawn.indexOf('low'))
    expect(drawn).not.toContain('off')
  })
})

it('units are read by people', () => {
  const written = [
    [0.0421, 's'],
    [90, 's'],
    [7_300, 's'],
    [0.5, 'percentunit'],
    [1_234_567, 'bytes'],
    [12.34, 'ops'],
    [0.0031, 'currencyUSD'],
    [0, 'short'],
  ] as const
  expect(written.map(([value, unit]) => inUnit(value, unit))).toEqual([
    '42.1 ms',
    '90 s',
    '2.03 h',
    '50 %',
    '1.23 MB',
    '12.3/s',
    '$0.0031',
    '0',
  ])
})
