// Finds many literals in one pass over a text (Aho-Corasick): the cheap filter in front of everything expensive.

/** A literal and the bits to report when it occurs. */
export interface Literal {
  readonly text: string
  readonly bits: number
}

/** Reports the end offset and the bits of an occurrence. */
export type Report = (end: number, bits: number) => void

/** Calls the report for every occurrence, in text order. */
export type LiteralScan = (text: string, report: Report) => void

/**
 * A complete table: the state after a code unit is `table[state * width + classes[unit]]`, beginning at state 0. In states
 * from `firstHit` on a literal has just ended, so that the common step is one load and one comparison.
 */
export interface Automaton {
  readonly classes: Uint16Array
  readonly width: number
  readonly table: Uint16Array
  readonly firstHit: number
  readonly bits: Int32Array
}

interface Trie {
  readonly next: number[][]
  readonly bits: number[]
}

interface Linked {
  readonly table: Uint16Array
  /** The states by their distance from the root. */
  readonly order: readonly number[]
  readonly bits: readonly number[]
}

/** As many as a table of 16 bits can name: one more would be taken for another state, and its literal never be found. */
export const STATES_MAX = 65_536

/** Builds the table of some literals. Throws a RangeError where they need more than `STATES_MAX` states. */
export function buildAutomaton(literals: readonly Literal[]): Automaton {
  const classes = classify(literals)
  const width = 1 + Math.max(0, ...classes)
  const trie = buildTrie(literals, classes)
  const states = trie.next.length
  if (states > STATES_MAX) throw new RangeError(`the literals need ${states} states`)
  const linked = linkFailures(trie, width)
  return { classes, width, ...putHitsLast(linked, width) }
}

/** Builds the scan; its cost is one table look-up per UTF-16 code unit whatever the literals are. */
export function createLiteralScan(literals: readonly Literal[]): LiteralScan {
  const { classes, width, table, firstHit, bits } = buildAutomaton(literals)
  return (text, report) => {
    let state = 0
    for (let index = 0; index < text.length; index++) {
      state = table[state * width + (classes[text.charCodeAt(index)] ?? 0)] ?? 0
      if (state >= firstHit) report(index + 1, bits[state] ?? 0)
    }
  }
}

/** Class 0 is any code unit that occurs in no literal; low units get low classes, so that ASCII stays close together. */
function classify(literals: readonly Literal[]): Uint16Array {
  const units = new Set<number>()
  for (const { text } of literals)
    for (let index = 0; index < text.length; index++) units.add(text.charCodeAt(index))
  const classes = new Uint16Array(65_536)
  for (const [index, unit] of [...units].toSorted((left, right) => left - right).entries())
    classes[unit] = index + 1
  return classes
}

function buildTrie(literals: readonly Literal[], classes: Uint16Array): Trie {
  const trie: Trie = { next: [[]], bits: [0] }
  for (const literal of literals) {
    let state = 0
    for (let index = 0; index < literal.text.length; index++) {
      state = childOf(trie, state, classes[literal.text.charCodeAt(index)] ?? 0)
    }
    trie.bits[state] = (trie.bits[state] ?? 0) | literal.bits
  }
  return trie
}

function childOf(trie: Trie, state: number, symbol: number): number {
  const children = trie.next[state] ?? []
  const known = children[symbol]
  if (known !== undefined) return known
  const created = trie.next.push([]) - 1
  trie.bits.push(0)
  children[symbol] = created
  return created
}

/** Turns the trie into a complete table: where no child exists, the step of the longest proper suffix is taken. */
function linkFailures(trie: Trie, width: number): Linked {
  const table = new Uint16Array(trie.next.length * width)
  const failures = new Uint16Array(trie.next.length)
  const order: number[] = [0]
  for (let head = 0; head < order.length; head++) {
    const state = order[head] ?? 0
    const failure = failures[state] ?? 0
    trie.bits[state] = (trie.bits[state] ?? 0) | (trie.bits[failure] ?? 0)
    for (let symbol = 0; symbol < width; symbol++) {
      const child = trie.next[state]?.[symbol]
      const fallback = state === 0 ? 0 : (table[failure * width + symbol] ?? 0)
      table[state * width + symbol] = child ?? fallback
      if (child === undefined) continue
      failures[child] = fallback
      order.push(child)
    }
  }
  return { table, order, bits: trie.bits }
}

/** Numbers the states anew: those without a hit first, each kind by distance, so that the states of common text are near. */
function putHitsLast(
  linked: Linked,
  width: number,
): Pick<Automaton, 'table' | 'firstHit' | 'bits'> {
  const silent = linked.order.filter((state) => linked.bits[state] === 0)
  const order = [...silent, ...linked.order.filter((state) => linked.bits[state] !== 0)]
  const numbers = new Uint16Array(order.length)
  for (const [number, state] of order.entries()) numbers[state] = number
  const table = new Uint16Array(linked.table.length)
  for (const [number, state] of order.entries()) {
    for (let symbol = 0; symbol < width; symbol++)
      table[number * width + symbol] = numbers[linked.table[state * width + symbol] ?? 0] ?? 0
  }
  const bits = Int32Array.from(order, (state) => linked.bits[state] ?? 0)
  return { table, firstHit: silent.length, bits }
}
