// Waiting pointers in the order they start: priority first, then arrival. Constant time per job.
import type { Pointer, Priority } from './transport.ts'

export interface Waiting {
  readonly priority: Priority
  readonly pointer: Pointer
}

export interface PriorityBuffer {
  readonly size: number
  push(priority: Priority, pointer: Pointer): void
  take(): Waiting | undefined
  /** In front of its priority: it is taken next. */
  putBack(taken: Waiting): void
}

// A list that is read from a moving head: Array.shift would copy a long backlog for every job.
interface PriorityClass {
  pointers: Pointer[]
  head: number
}

const COMPACT_AT = 1_024

function takeFrom(priorityClass: PriorityClass): Pointer | undefined {
  const pointer = priorityClass.pointers[priorityClass.head]
  if (pointer === undefined) return undefined
  priorityClass.head += 1
  if (priorityClass.head >= COMPACT_AT && priorityClass.head * 2 >= priorityClass.pointers.length) {
    priorityClass.pointers = priorityClass.pointers.slice(priorityClass.head)
    priorityClass.head = 0
  }
  return pointer
}

export function createPriorityBuffer(): PriorityBuffer {
  const newClass = (): PriorityClass => ({ pointers: [], head: 0 })
  const classes: Record<Priority, PriorityClass> = [newClass(), newClass(), newClass(), newClass()]
  let size = 0
  return {
    get size() {
      return size
    },
    push(priority, pointer) {
      classes[priority].pointers.push(pointer)
      size += 1
    },
    take() {
      for (const priority of [0, 1, 2, 3] as const) {
        const pointer = takeFrom(classes[priority])
        if (pointer === undefined) continue
        size -= 1
        return { priority, pointer }
      }
      return undefined
    },
    putBack({ priority, pointer }) {
      const priorityClass = classes[priority]
      if (priorityClass.head === 0) priorityClass.pointers.unshift(pointer)
      else priorityClass.pointers[(priorityClass.head -= 1)] = pointer
      size += 1
    },
  }
}
