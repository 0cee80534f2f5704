// Where a text may make sense in another form, as the literals of the triggers tell.
import { shiftAt, TRIGGERS } from './rules/triggers.ts'
import type { Rewrite } from './rules/triggers.ts'
import type { Span } from './span-map.ts'

/** That some parts of a text may make sense in another form. */
export interface Hint {
  readonly rewrite: Rewrite
  /** By how many places its letters were rotated; 0 in every other form. */
  readonly shift: number
  /** In order, and apart. */
  readonly around: readonly Span[]
}

const BEFORE = 2_048
const AFTER = 6_144

interface GrowingHint extends Hint {
  readonly around: [start: number, end: number][]
}

export class Hints {
  readonly #text: string
  readonly #byForm = new Map<string, GrowingHint>()

  constructor(text: string) {
    this.#text = text
  }

  get all(): readonly Hint[] {
    return [...this.#byForm.values()]
  }

  /** Takes the triggers whose literals end there, one bit for each; they come in the order of the text. */
  add(end: number, bits: number): void {
    for (const [index, { rewrite }] of TRIGGERS.entries()) {
      if ((bits & (1 << index)) === 0) continue
      const shift = rewrite === 'rotated' ? shiftAt(this.#text, end) : 0
      if (shift !== undefined) this.#widen(rewrite, shift, end)
    }
  }

  #widen(rewrite: Rewrite, shift: number, at: number): void {
    const form = `${rewrite} ${shift}`
    const known: GrowingHint = this.#byForm.get(form) ?? { rewrite, shift, around: [] }
    this.#byForm.set(form, known)
    const last = known.around.at(-1)
    const end = Math.min(this.#text.length, at + AFTER)
    if (last !== undefined && at - BEFORE <= last[1]) last[1] = end
    else known.around.push([Math.max(0, at - BEFORE), end])
  }
}
