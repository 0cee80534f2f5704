// A set of spans that answers in few steps whether another one overlaps one of them.
import type { Span } from './span-map.ts'

export class SpanSet {
  /** Ordered, and none overlaps another. */
  readonly #starts: number[] = []
  readonly #ends: number[] = []

  /** Adds a span that overlaps none; answers false, and adds nothing, where it overlaps one. */
  add([start, end]: Span): boolean {
    const at = this.#firstEndingAfter(start)
    if (at < this.#starts.length && (this.#starts[at] ?? 0) < end) return false
    if (at === this.#starts.length) {
      this.#starts.push(start)
      this.#ends.push(end)
    } else {
      this.#starts.splice(at, 0, start)
      this.#ends.splice(at, 0, end)
    }
    return true
  }

  #firstEndingAfter(start: number): number {
    let low = 0
    let high = this.#ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ends[middle] ?? 0) > start) high = middle
      else low = middle + 1
    }
    return low
  }
}
