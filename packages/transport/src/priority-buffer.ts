// Waiting pointers in the order they start: priority first, then arrival. Constant time per job.
import type { Pointer, Priority } from './transport.ts'

export interface PriorityBuffer {
  readonly size: number
  push(priority: Priority, pointer: Pointer): void
  take(): Pointer | undefined
}

// A list that is read from a moving head: Array.shift would copy a long backlog for every job.
interface Lane {
  pointers: Pointer[]
  head: number
}

const COMPACT_AT = 1_024

function takeFrom(lane: Lane): Pointer | undefined {
  const pointer = lane.pointers[lane.head]
  if (pointer === undefined) return undefined
  lane.head += 1
  if (lane.head >= COMPACT_AT && lane.head * 2 >= lane.pointers.length) {
    lane.pointers = lane.pointers.slice(lane.head)
    lane.head = 0
  }
  return pointer
}

export function createPriorityBuffer(): PriorityBuffer {
  const newLane = (): Lane => ({ pointers: [], head: 0 })
  const lanes: Record<Priority, Lane> = [newLane(), newLane(), newLane(), newLane()]
  let size = 0
  return {
    get size() {
      return size
    },
    push(priority, pointer) {
      lanes[priority].pointers.push(pointer)
      size += 1
    },
    take() {
      for (const priority of [0, 1, 2, 3] as const) {
        const pointer = takeFrom(lanes[priority])
        if (pointer === undefined) continue
        size -= 1
        return pointer
      }
      return undefined
    },
  }
}
