// Finds many literals in one pass over a text (Aho-Corasick): the cheap filter in front of everything expensive.

/** A literal and the bits to report when it occurs. */
export interface Literal {
  readonly text: string
  readonly bits: number
}

/** Reports the end offset and the bits of every occurrence, in text order. */
export type LiteralScan = (text: string, report: (end: number, bits: number) => void) => void

interface Trie {
  readonly next: number[][]
  readonly bits: number[]
}

/** Builds the scan; its cost is one table look-up per UTF-16 code unit whatever the literals are. */
export function createLiteralScan(literals: readonly Literal[]): LiteralScan {
  const classes = classify(literals)
  const width = 1 + Math.max(0, ...classes)
  const trie = buildTrie(literals, classes)
  const table = linkFailures(trie, width)
  const bits = Int32Array.from(trie.bits)
  return (text, report) => {
    let state = 0
    for (let index = 0; index < text.length; index++) {
      state = table[state * width + (classes[text.charCodeAt(index)] ?? 0)] ?? 0
      const found = bits[state] ?? 0
      if (found !== 0) report(index + 1, found)
    }
  }
}

/** Class 0 is any code unit that occurs in no literal. */
function classify(literals: readonly Literal[]): Uint16Array {
  const classes = new Uint16Array(65_536)
  let count = 0
  for (const { text } of literals) {
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (classes[unit] === 0) classes[unit] = ++count
    }
  }
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
function linkFailures(trie: Trie, width: number): Uint16Array {
  const table = new Uint16Array(trie.next.length * width)
  const failures = new Uint16Array(trie.next.length)
  const queue: number[] = [0]
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0
    const failure = failures[state] ?? 0
    trie.bits[state] = (trie.bits[state] ?? 0) | (trie.bits[failure] ?? 0)
    for (let symbol = 0; symbol < width; symbol++) {
      const child = trie.next[state]?.[symbol]
      const fallback = state === 0 ? 0 : (table[failure * width + symbol] ?? 0)
      table[state * width + symbol] = child ?? fallback
      if (child === undefined) continue
      failures[child] = fallback
      queue.push(child)
    }
  }
  return table
}
