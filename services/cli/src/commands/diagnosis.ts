// One finding of the doctor: about a promise or about what the promises rest on.
import type { PromiseId } from '@baton/engine'
import type { LogVerdict } from '@baton/ledger'
import type { Mark } from '../terminal/output.ts'

export interface Diagnosis {
  /** The promise it belongs to, or the part of the set-up. */
  readonly about:
    | PromiseId
    | 'database'
    | 'queue'
    | 'services'
    | 'outside'
    | 'keys'
    | 'vault'
    | 'certificates'
    | 'seals'
    | 'backups'
  readonly rule: string
  readonly mark: Mark
  /** What was seen, or what is missing and how to mend it. */
  readonly text: string
  /** What breaks the rule; at most 100. */
  readonly ids: readonly string[]
  /** What the whole log comes to, where that is what was diagnosed. */
  readonly verdict?: LogVerdict
  /** Shown also where the rule holds: somebody waits for it while they change a key. */
  readonly isTold?: boolean
}

type About = Diagnosis['about']

export const passed = (about: About, rule: string, text = ''): Diagnosis => ({
  about,
  rule,
  mark: 'passed',
  text,
  ids: [],
})

export const unknown = (about: About, rule: string, text: string): Diagnosis => ({
  about,
  rule,
  mark: 'unknown',
  text,
  ids: [],
})

export const failed = (
  about: About,
  rule: string,
  broken: { readonly text: string; readonly ids?: readonly string[] },
): Diagnosis => ({ about, rule, mark: 'failed', text: broken.text, ids: broken.ids ?? [] })

/** A rule that holds when nothing breaks it. */
export const judged = (about: About, rule: string, ids: readonly string[]): Diagnosis =>
  ids.length === 0
    ? passed(about, rule)
    : failed(about, rule, {
        text: `broken by ${ids.length === 100 ? '100 or more' : ids.length}`,
        ids,
      })
