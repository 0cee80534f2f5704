// What a campaign found: a table for people, an object for programs.
import { describeViolation, INVARIANTS } from './check.ts'
import type { SeedResult } from './seed-run.ts'

export interface Spread {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export interface SeedFigures {
  readonly seed: number
  readonly faults: number
  /** Faults that could not be made, for example because Postgres was down at that moment. */
  readonly notMade: number
  readonly operations: number
  readonly acknowledged: number
  readonly unknown: number
  readonly handoffs: number
  readonly executions: number
  readonly lost: number
  readonly stuck: number
  readonly doubleEffects: number
  readonly fenced: number
  readonly unaudited: number
  readonly chainVerified: boolean
  readonly costsConserved: boolean
  readonly drainSeconds: number
  readonly recoveryMs: Spread
  readonly violations: readonly string[]
  readonly surprises: readonly string[]
}

export interface Report {
  readonly ok: boolean
  readonly knownBad?: string
  /** What services ran from, where that was not this checkout. */
  readonly image?: string
  readonly startedAt: string
  readonly elapsedSeconds: number
  readonly secondsPerSeed: number
  readonly invariants: readonly string[]
  /** How often each kind of fault was made. */
  readonly faultsByKind: Readonly<Record<string, number>>
  readonly totals: Omit<SeedFigures, 'seed' | 'violations' | 'surprises'>
  readonly violations: number
  readonly broken: readonly string[]
  readonly seeds: readonly SeedFigures[]
}

interface ReportParts {
  readonly results: readonly SeedResult[]
  readonly secondsPerSeed: number
  readonly startedAtMs: number
  readonly knownBad?: string
  readonly image?: string
}

export function reportOf(parts: ReportParts): Report {
  const { results, secondsPerSeed, startedAtMs, knownBad, image } = parts
  const seeds = results.map(figuresOf)
  const sum = (member: NumberMember) => seeds.reduce((total, seed) => total + seed[member], 0)
  const broken = [...new Set(results.flatMap(({ violations }) => violations.map(({ id }) => id)))]
  return {
    ok: broken.length === 0,
    ...(knownBad === undefined ? {} : { knownBad }),
    ...(image === undefined ? {} : { image }),
    startedAt: new Date(startedAtMs).toISOString(),
    elapsedSeconds: Math.round((Date.now() - startedAtMs) / 1_000),
    secondsPerSeed,
    invariants: INVARIANTS.map(({ id, promise, rule }) => `${id} (promise ${promise}): ${rule}`),
    faultsByKind: countKinds(results),
    totals: {
      ...(Object.fromEntries(SUMMED.map((member) => [member, sum(member)])) as Record<
        NumberMember,
        number
      >),
      chainVerified: seeds.every((seed) => seed.chainVerified),
      costsConserved: seeds.every((seed) => seed.costsConserved),
      drainSeconds: Math.max(0, ...seeds.map((seed) => seed.drainSeconds)),
      recoveryMs: spreadOf(results.flatMap(({ recoveriesMs }) => recoveriesMs)),
    },
    violations: results.reduce((total, { violations }) => total + violations.length, 0),
    broken,
    seeds,
  }
}

const SUMMED = [
  'faults',
  'notMade',
  'operations',
  'acknowledged',
  'unknown',
  'handoffs',
  'executions',
  'lost',
  'stuck',
  'doubleEffects',
  'fenced',
  'unaudited',
] as const
type NumberMember = (typeof SUMMED)[number]

function figuresOf(result: SeedResult): SeedFigures {
  const broken = (id: string) => result.violations.filter((one) => one.id === id).length
  const made = result.faults.filter(({ failure }) => failure === undefined).length
  return {
    seed: result.seed,
    faults: made,
    notMade: result.faults.length - made,
    operations: result.operations,
    acknowledged: result.acknowledged,
    unknown: result.unknown,
    handoffs: result.handoffs,
    executions: result.executions,
    lost: broken('I1'),
    stuck: broken('I2'),
    doubleEffects: broken('I3'),
    fenced: result.fenced,
    unaudited: broken('I4'),
    chainVerified: broken('I5') === 0,
    costsConserved: broken('I9') === 0,
    drainSeconds: Math.round(result.drainMs / 100) / 10,
    recoveryMs: spreadOf(result.recoveriesMs),
    violations: result.violations.map(describeViolation),
    surprises: result.surprises,
  }
}

function countKinds(results: readonly SeedResult[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { kind, failure } of results.flatMap(({ faults }) => faults)) {
    if (failure === undefined) counts[kind] = (counts[kind] ?? 0) + 1
  }
  return Object.fromEntries(
    Object.entries(counts).toSorted(([one], [other]) => one.localeCompare(other)),
  )
}

/** Zeros for no values. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}

const COLUMNS: readonly (readonly [string, (seed: TableRow) => string | number])[] = [
  ['seed', (row) => row.seed],
  ['faults', (row) => row.faults],
  ['acknowledged', (row) => row.acknowledged],
  ['unknown', (row) => row.unknown],
  ['lost', (row) => row.lost],
  ['stuck', (row) => row.stuck],
  ['double', (row) => row.doubleEffects],
  ['fenced', (row) => row.fenced],
  ['unaudited', (row) => row.unaudited],
  ['chain', (row) => (row.chainVerified ? 'ok' : 'BROKEN')],
  ['cost', (row) => (row.costsConserved ? 'ok' : 'OFF')],
  ['drain s', (row) => row.drainSeconds.toFixed(1)],
  ['recovery p50/p99/max ms', ({ recoveryMs: { p50, p99, max } }) => `${p50}/${p99}/${max}`],
]
type TableRow = Report['totals'] & { readonly seed: number | string }

/** The table of all seeds with their totals, for a terminal. */
export function tableOf({ seeds, totals }: Report): string {
  const rows: readonly TableRow[] = [...seeds, { ...totals, seed: 'total' }]
  return aligned(
    COLUMNS.map(([title]) => title),
    rows.map((row) => COLUMNS.map(([, cell]) => String(cell(row)))),
  )
}

/** Titles over cells, right-aligned, for a terminal. */
export function aligned(titles: readonly string[], cells: readonly (readonly string[])[]): string {
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  )
  const line = (row: readonly string[]) =>
    row.map((cell, index) => cell.padStart(widths[index] ?? 0)).join('  ')
  return [titles, ...cells].map(line).join('\n')
}
