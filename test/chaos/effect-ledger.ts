// The effect ledger: what agents wrote down themselves, read back from the files of all their processes.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface LedgerLine {
  /** `tick`: still at work; `end`: finished; `aborted`: told to stop before it finished. */
  readonly what: 'start' | 'tick' | 'end' | 'aborted'
  readonly handoffId: string
  readonly taskId: string
  readonly fencingToken: number
  readonly attempt: number
  readonly key: string
  readonly costMicroUSD: number
  readonly traceparent: string
  readonly pid: number
  /** Milliseconds since 1970 by the machine's clock. */
  readonly at: number
}

/** Every line of `effects-*.jsonl` in the folder, oldest first; a line that a kill cut off is left out. */
export function readLedger(folder: string): readonly LedgerLine[] {
  return readdirSync(folder)
    .filter((name) => /^effects-.+\.jsonl$/.test(name))
    .flatMap((name) => readLines<LedgerLine>(join(folder, name)))
    .toSorted((one, other) => one.at - other.at)
}

/** The complete lines of a JSONL file. */
export function readLines<Line>(file: string): readonly Line[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.slice(0, -1).map((line) => JSON.parse(line) as Line)
}
