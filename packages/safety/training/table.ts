// Counts how rows were judged, for each family and for the classes that goals are set for.
import type { SafetyDecision } from '../src/verdict.ts'
import type { Judged } from './leave-one-out.ts'

export interface Counted {
  readonly name: string
  readonly rows: number
  readonly rejected: number
  /** Or rejected. */
  readonly flagged: number
  readonly rejectedByRules: number
  readonly flaggedByRules: number
}

const OVERRIDES =
  /^(?:asb_(?:ignoring|combined)|cse_ignore_previous_instructions|pallms_promptinjection)$/u
const SPOOFS = /^(?:asb_fake_completion|cse_system_mode)$/u
const PERSONAS = /^(?:jailbreak_itw|jailbreak_selfreminder|pallms_jailbreak)$/u

/** What goals are set for; the families stand in the row of each. */
const CLASSES: Readonly<Record<string, (judged: Judged) => boolean>> = {
  'explicit overrides': ofFamily(OVERRIDES),
  'authority spoofs': ofFamily(SPOOFS),
  personas: ofFamily(PERSONAS),
  'exfiltration markup': ofFamily(/^exfil_markup$/u),
  encodings: ({ row }) => row.form === 'obfuscated',
  'ordinary texts': ({ row }) => !row.attack,
}

function ofFamily(families: RegExp) {
  return ({ row }: Judged): boolean => row.form === 'plain' && families.test(row.family)
}

export function countClasses(judged: readonly Judged[]): Counted[] {
  return Object.entries(CLASSES).map(([name, belongs]) => count(name, judged.filter(belongs)))
}

export function countFamilies(judged: readonly Judged[]): Counted[] {
  const families = Map.groupBy(
    judged,
    ({ row }) => `${row.attack ? '' : 'ordinary: '}${row.family}`,
  )
  return [...families].map(([name, rows]) => count(name, rows))
}

/** Both, as text. */
export function formatTable(judged: readonly Judged[]): string {
  const counted = [...countClasses(judged), ...countFamilies(judged)]
  const line = (cells: readonly string[]): string =>
    cells.map((cell, at) => (at === 0 ? cell.padEnd(46) : cell.padStart(10))).join('')
  return [
    line(['', 'rows', 'rejected', 'or flagged', 'by rules', 'or flagged']),
    ...counted.map((one) => line(cellsOf(one))),
    '',
  ].join('\n')
}

export function cellsOf({ name, rows, ...counts }: Counted): string[] {
  const shares = [counts.rejected, counts.flagged, counts.rejectedByRules, counts.flaggedByRules]
  return [name, String(rows), ...shares.map((some) => `${((100 * some) / rows).toFixed(2)} %`)]
}

function count(name: string, judged: readonly Judged[]): Counted {
  const countOf = (of: (one: Judged) => SafetyDecision, ...wanted: SafetyDecision[]): number =>
    judged.filter((one) => wanted.includes(of(one))).length
  const whole = ({ decision }: Judged): SafetyDecision => decision
  const rules = ({ byRules }: Judged): SafetyDecision => byRules
  return {
    name,
    rows: judged.length,
    rejected: countOf(whole, 'reject'),
    flagged: countOf(whole, 'reject', 'flag'),
    rejectedByRules: countOf(rules, 'reject'),
    flaggedByRules: countOf(rules, 'reject', 'flag'),
  }
}
