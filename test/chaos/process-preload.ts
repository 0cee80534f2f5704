// Loaded into every process of a campaign before its own code: shifts its Date and blocks its event loop on demand.
import { existsSync, readFileSync } from 'node:fs'

/** What stands in the control file of a process. */
export interface ProcessControl {
  /** Added to the process's wall clock. */
  readonly offsetMs: number
  /** How fast its wall clock runs; 1 is true. */
  readonly rate: number
  /** Blocks the event loop once for this long; a new `blockId` asks again. A process that starts afterwards is not meant. */
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
  const { blockId } = control
  takeControl()
  if (control.blockId !== blockId && control.blockMs > 0) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, control.blockMs)
  }
}

function takeControl(): void {
  if (!existsSync(file)) return
  const next = JSON.parse(readFileSync(file, 'utf8')) as ProcessControl
  if (next.rate !== control.rate) since = TrueDate.now()
  control = next
}

if (file !== '') {
  globalThis.Date = ShiftedDate
  takeControl()
  setInterval(readControl, POLL_MS).unref()
}
