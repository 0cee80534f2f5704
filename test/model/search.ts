// Looks at every state that can be reached, breadth first, and at whether each can still end well without further faults.
/** `step`: what the system does by itself. `choice`: a person or the calendar. `fault`: what goes wrong. */
export type Kind = 'step' | 'choice' | 'fault'

/** One thing that may happen next. `wrong` names the promise that it breaks. */
export type Emit<State> = (move: {
  readonly kind: Kind
  readonly label: string
  readonly next: State
  readonly wrong?: string | undefined
}) => void

export interface Protocol<State> {
  /** How many bytes a state has. */
  readonly width: number
  readonly first: State
  /** States that differ only in what is interchangeable have the same bytes. */
  pack(state: State, bytes: Uint8Array): void
  unpack(bytes: Uint8Array): State
  moves(state: State, emit: Emit<State>): void
  /** Nothing is left to do, or only a person can go on. */
  settled(state: State): boolean
}

export interface Found {
  readonly states: number
  readonly transitions: number
  readonly settled: number
  readonly seconds: number
  /** The first broken promise and the shortest way to it; undefined where all hold. */
  readonly broken: { readonly promise: string; readonly trace: readonly string[] } | undefined
}

const EMPTY = -1

/** States by number, found again by their bytes. */
class StateSet {
  size = 0
  #bytes: Uint8Array
  #slots = new Int32Array(1 << 16).fill(EMPTY)
  readonly #width: number

  constructor(width: number) {
    this.#width = width
    this.#bytes = new Uint8Array(width << 16)
  }

  at(number: number): Uint8Array {
    return this.#bytes.subarray(number * this.#width, (number + 1) * this.#width)
  }

  /** The number of this state, and whether it is new. */
  add(state: Uint8Array): { readonly number: number; readonly isNew: boolean } {
    let slot = this.#slotOf(state)
    const known = this.#slots[slot] ?? EMPTY
    if (known !== EMPTY) return { number: known, isNew: false }
    if (this.size * 2 >= this.#slots.length) {
      this.#grow()
      slot = this.#slotOf(state)
    }
    const number = this.size
    this.#slots[slot] = number
    this.#bytes.set(state, number * this.#width)
    this.size += 1
    return { number, isNew: true }
  }

  #slotOf(state: Uint8Array): number {
    const mask = this.#slots.length - 1
    let slot = hashOf(state) & mask
    for (;;) {
      const known = this.#slots[slot] ?? EMPTY
      if (known === EMPTY || this.#same(known, state)) return slot
      slot = (slot + 1) & mask
    }
  }

  #same(number: number, state: Uint8Array): boolean {
    const from = number * this.#width
    for (let index = 0; index < this.#width; index += 1) {
      if (this.#bytes[from + index] !== state[index]) return false
    }
    return true
  }

  #grow(): void {
    const bytes = new Uint8Array(this.#slots.length * 2 * this.#width)
    bytes.set(this.#bytes.subarray(0, this.size * this.#width))
    this.#bytes = bytes
    this.#slots = new Int32Array(this.#slots.length * 2).fill(EMPTY)
    for (let number = 0; number < this.size; number += 1) {
      this.#slots[this.#slotOf(this.at(number))] = number
    }
  }
}

function hashOf(state: Uint8Array): number {
  let hash = 0x811c9dc5
  for (const byte of state) hash = Math.imul(hash ^ byte, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** A list of whole numbers that grows. */
class Numbers {
  length = 0
  #items = new Int32Array(1 << 16)

  push(item: number): void {
    if (this.length === this.#items.length) {
      const items = new Int32Array(this.length * 2)
      items.set(this.#items)
      this.#items = items
    }
    this.#items[this.length] = item
    this.length += 1
  }

  at(index: number): number {
    return this.#items[index] ?? EMPTY
  }
}

/** Stops at the first broken promise. `statesMax` bounds memory: more states than that is an error. */
export function explore<State>(
  protocol: Protocol<State>,
  { statesMax }: { statesMax: number },
): Found {
  const startedAt = performance.now()
  const states = new StateSet(protocol.width)
  const parents = new Numbers()
  const stepsFrom = new Numbers()
  const stepsTo = new Numbers()
  const bytes = new Uint8Array(protocol.width)
  const settled: number[] = []
  let transitions = 0
  let broken: Found['broken']

  const numberOf = (state: State, parent: number): number => {
    protocol.pack(state, bytes)
    const { number, isNew } = states.add(bytes)
    if (isNew) parents.push(parent)
    return number
  }
  const traceTo = (number: number): string[] => {
    const path: number[] = []
    for (let at = number; at !== EMPTY; at = parents.at(at)) path.unshift(at)
    return path.slice(1).map((to, index) => labelOf(protocol, states, [path[index] ?? 0, to]))
  }

  numberOf(protocol.first, EMPTY)
  for (let number = 0; number < states.size && broken === undefined; number += 1) {
    if (states.size > statesMax) throw new Error(`more than ${statesMax} states`)
    const state = protocol.unpack(states.at(number))
    if (protocol.settled(state)) settled.push(number)
    protocol.moves(state, ({ kind, label, next, wrong }) => {
      if (broken !== undefined) return
      transitions += 1
      if (wrong !== undefined) {
        broken = { promise: wrong, trace: [...traceTo(number), label] }
        return
      }
      const to = numberOf(next, number)
      if (kind !== 'step' || to === number) return
      stepsFrom.push(number)
      stepsTo.push(to)
    })
  }
  if (broken === undefined) {
    const stuck = firstStuck(states.size, settled, { from: stepsFrom, to: stepsTo })
    if (stuck !== undefined) {
      broken = { promise: 'I2: from here nothing ends any more', trace: traceTo(stuck) }
    }
  }
  const seconds = (performance.now() - startedAt) / 1000
  return { states: states.size, transitions, settled: settled.length, seconds, broken }
}

function labelOf<State>(
  protocol: Protocol<State>,
  states: StateSet,
  [from, to]: readonly [number, number],
): string {
  const bytes = new Uint8Array(protocol.width)
  let found = ''
  protocol.moves(protocol.unpack(states.at(from)), ({ label, next }) => {
    protocol.pack(next, bytes)
    if (found === '' && states.add(bytes).number === to) found = label
  })
  return found
}

interface Steps {
  readonly from: Numbers
  readonly to: Numbers
}

/** The first state from which the system alone reaches no settled one: steps are walked backwards. */
function firstStuck(
  count: number,
  settled: readonly number[],
  { from, to }: Steps,
): number | undefined {
  const starts = new Int32Array(count + 2)
  for (let edge = 0; edge < to.length; edge += 1) {
    starts[to.at(edge) + 2] = (starts[to.at(edge) + 2] ?? 0) + 1
  }
  for (let number = 2; number < starts.length; number += 1) {
    starts[number] = (starts[number] ?? 0) + (starts[number - 1] ?? 0)
  }
  const before = new Int32Array(to.length)
  for (let edge = 0; edge < to.length; edge += 1) {
    const slot = starts[to.at(edge) + 1] ?? 0
    before[slot] = from.at(edge)
    starts[to.at(edge) + 1] = slot + 1
  }
  const ends = new Uint8Array(count)
  const open = [...settled]
  for (const number of open) ends[number] = 1
  for (let number = open.pop(); number !== undefined; number = open.pop()) {
    const until = starts[number + 1] ?? 0
    for (let edge = starts[number] ?? 0; edge < until; edge += 1) {
      const earlier = before[edge] ?? 0
      if (ends[earlier] === 1) continue
      ends[earlier] = 1
      open.push(earlier)
    }
  }
  const stuck = ends.indexOf(0)
  return stuck === -1 ? undefined : stuck
}
