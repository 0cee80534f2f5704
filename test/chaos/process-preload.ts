// Loaded into every process of a campaign before its own code: shifts its Date and blocks its event loop on demand.
import { existsSync, readFileSync } from 'node:fs'

/** What stands in the control file of a process. */
export interface ProcessControl {
  /** Added to the process's wall clock. */
  readonly offsetMs: number
  /** How fast its wall clock runs; 1 is true. */
  readonly rate: number
  /** Blocks the event loop once for this long; a new `blockId` asks again. */
  readonly blockMs: number
  readonly blockId: number
}

const POLL_MS = 50
const file = process.env['BATON_CHAOS_CONTROL'] ?? ''
const TrueDate = Date
let control: ProcessControl = { offsetMs: 0, rate: 1, blockMs: 0, blockId: 0 }
let since = TrueDate.now()

function shiftedNow(): number {
  const now = TrueDate.now()
  return Math.floor(now + control.offsetMs + (control.rate - 1) * (now - since))
}

const ShiftedDate: DateConstructor = new Proxy(TrueDate, {
  construct: (target, values: unknown[], made) =>
    Reflect.construct(
      target,
      values.length === 0 ? [shiftedNow()] : values,
      made === ShiftedDate ? target : made,
    ) as Date,
  apply: () => new TrueDate(shiftedNow()).toString(),
  get: (target, name) => (name === 'now' ? shiftedNow : (Reflect.get(target, name) as unknown)),
})

function readControl(): void {
  if (!existsSync(file)) return
  const text = readFileSync(file, 'utf8')
  // A file that is just being written is read again at the next poll.
  if (!text.endsWith('}\n')) return
  const next = JSON.parse(text) as ProcessControl
  const { blockId } = control
  if (next.rate !== control.rate) since = TrueDate.now()
  control = next
  if (next.blockId !== blockId && next.blockMs > 0) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, next.blockMs)
  }
}

if (file !== '') {
  globalThis.Date = ShiftedDate
  setInterval(readControl, POLL_MS).unref()
}
