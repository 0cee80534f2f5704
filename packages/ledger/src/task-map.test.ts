// The map says of each task how many records it has and which is the last, of any other that it is absent, and of an altered node nothing.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { uuidOfDigest } from './uuid.ts'
import { sha256, sha256Hex } from './sha256.ts'
import { encodeUtf8, toHex } from './bytes.ts'
import {
  changeTaskMap,
  EMPTY_TASK_MAP,
  findTaskEnd,
  missingTaskMapNodes,
  openTaskMapNode,
  taskMapPath,
  taskMapStart,
} from './task-map.ts'
import type { TaskEnd } from './task-map.ts'

const task = (number: number): string => uuidOfDigest(sha256Hex(encodeUtf8(`task ${number}`)))
const end = (number: number): TaskEnd => ({
  records: number + 1,
  lastHash: sha256(encodeUtf8(`end ${number}`)),
})

/** A map as a store has it: every node that was ever written, the newest of each name. */
function mapOf(groups: readonly (readonly number[])[]) {
  const nodes = new Map<string, Uint8Array>()
  let root = EMPTY_TASK_MAP
  for (const group of groups) {
    const changes = new Map(group.map((number) => [task(number), end(number)]))
    expect(missingTaskMapNodes(root, nodes, changes.keys()).size).toBe(0)
    const changed = changeTaskMap(root, nodes, changes)
    root = changed.root
    for (const [name, bytes] of changed.nodes) nodes.set(name, bytes)
  }
  return { root, nodes }
}

function wholeMap(root: Uint8Array, nodes: ReadonlyMap<string, Uint8Array>) {
  const start = taskMapStart(root)
  const waiting = start === undefined ? [] : [start]
  const ends = new Map<string, TaskEnd>()
  const unproven: string[] = []
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const node = openTaskMapNode(place, nodes.get(place.name))
    if (node === undefined) unproven.push(place.name)
    for (const [taskId, one] of node?.ends ?? []) ends.set(taskId, one)
    waiting.push(...(node?.below ?? []))
  }
  return { ends, unproven }
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at)

describe('a map of tasks', () => {
  test('finds every task, and nothing else, at sizes around each split', () => {
    for (const size of [0, 1, 15, 16, 17, 18, 255, 256, 257, 1_000]) {
      const { root, nodes } = mapOf([range(0, size)])
      for (const number of range(0, size)) {
        expect(findTaskEnd(root, nodes, task(number))).toEqual({ kind: 'found', end: end(number) })
      }
      expect(findTaskEnd(root, nodes, task(size))).toEqual({ kind: 'absent' })
      expect(wholeMap(root, nodes).ends).toEqual(
        new Map(range(0, size).map((at) => [task(at), end(at)])),
      )
    }
  })

  test('has one root for one set of tasks, in whatever order and pieces they came', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.nat(400), { maxLength: 60 }), { maxLength: 12 }),
        fc.integer(),
        (groups, seed) => {
          const all = [...new Set(groups.flat())]
          const shuffled = all.toSorted(
            (left, right) => ((left * seed) % 97) - ((right * seed) % 97),
          )
          expect(toHex(mapOf(groups).root)).toBe(toHex(mapOf([shuffled]).root))
        },
      ),
    )
  })

  test('says nothing of a task whose way leads through a node that is altered, older or gone', () => {
    const before = mapOf([range(0, 600)])
    const after = changeTaskMap(before.root, before.nodes, new Map([[task(7), end(900)]]))
    const nodes = new Map([...before.nodes, ...after.nodes])
    expect(findTaskEnd(after.root, nodes, task(7))).toEqual({ kind: 'found', end: end(900) })
    const way = taskMapPath(task(7)).filter((name) => nodes.has(name))
    expect(way.length).toBeGreaterThan(2)
    for (const name of way) {
      const bytes = nodes.get(name) as Uint8Array
      const flipped = Uint8Array.from(bytes)
      flipped[flipped.length - 1] = (flipped.at(-1) as number) ^ 1
      for (const other of [flipped, bytes.subarray(1), new Uint8Array(0), before.nodes.get(name)]) {
        const altered = new Map([...nodes, [name, other as Uint8Array]])
        expect(findTaskEnd(after.root, altered, task(7))).toEqual({ kind: 'unproven', node: name })
      }
      const gone = new Map([...nodes].filter(([each]) => each !== name))
      expect(findTaskEnd(after.root, gone, task(7))).toEqual({ kind: 'unproven', node: name })
      expect([...missingTaskMapNodes(after.root, gone, [task(7)])]).toEqual([name])
      expect(wholeMap(after.root, gone).unproven).toEqual([name])
    }
  })

  test('has the root that its description says', () => {
    // One list of two tasks, written out by hand: 0x00, then id, count and hash, in order of the ids.
    const [one, two] = [task(1), task(2)].toSorted() as [string, string]
    const entry = (id: string, { records, lastHash }: TaskEnd) =>
      `${id.replaceAll('-', '')}${records.toString(16).padStart(8, '0')}${toHex(lastHash)}`
    const text = `00${[one, two].map((id) => entry(id, id === task(1) ? end(1) : end(2))).join('')}`
    expect(toHex(mapOf([[1, 2]]).root)).toBe(sha256Hex(Buffer.from(text, 'hex')))
  })
})
