// Each claim is shared out by priority, starts near where the last one ended, and stops at the high-water mark;
// a mark is written over its own predecessor only, otherwise a new row begins, so that it never covers up a loss.
import type { NextMark } from '@baton/protocol'
import type { OutboxRow } from '@baton/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BATCH_MAX,
  createLaneQuotas,
  createMarker,
  createWaterGauge,
  isFilled,
} from './relay-outbox.ts'

const lane = (priority: number, queue = 'q') => ({ queue, priority })
const row = (seq: number, priority: 0 | 1 | 2 | 3) => ({ ...lane(priority), seq }) as OutboxRow

describe('the shares of a claim', () => {
  it('are 8, 4, 2 and 1 parts for priorities 0 to 3', () => {
    const quotas = createLaneQuotas().of([0, 1, 2, 3].map((priority) => lane(priority)))
    expect(quotas.map((quota) => quota.limit)).toEqual([106, 53, 26, 13])
  })

  it('leave every lane at least one row, and a lone lane the whole claim', () => {
    expect(createLaneQuotas().of([lane(3)])[0]?.limit).toBe(BATCH_MAX)
    const priority = fc.integer({ min: 0, max: 3 })
    fc.assert(
      fc.property(fc.array(priority, { minLength: 1, maxLength: 500 }), (priorities) => {
        const lanes = priorities.map((one, index) => lane(one, `q${index}`))
        const limits = createLaneQuotas()
          .of(lanes)
          .map((quota) => quota.limit)
        expect(Math.min(...limits)).toBeGreaterThanOrEqual(1)
        const sum = limits.reduce((total, limit) => total + limit, 0)
        expect(sum).toBeLessThanOrEqual(Math.max(BATCH_MAX, 2 * lanes.length))
      }),
    )
  })
})

describe('a claim', () => {
  it('is filled when one lane gave all it was asked for, whatever the others gave', () => {
    const quotas = [
      { ...lane(0), afterSeq: 0, limit: 2 },
      { ...lane(2), afterSeq: 0, limit: 3 },
    ]
    expect(isFilled(quotas, [row(1, 0), row(2, 2), row(3, 2)])).toBe(false)
    expect(isFilled(quotas, [row(1, 0), row(4, 0)])).toBe(true)
    expect(isFilled(quotas, [])).toBe(false)
  })
})

describe('where a claim starts', () => {
  it('is shortly before the last row seen, and the beginning every ten seconds', () => {
    let now = 0
    const quotas = createLaneQuotas(() => now)
    const startOf = (priority: number) => quotas.of([lane(priority)])[0]?.afterSeq
    expect(startOf(0)).toBe(0)
    quotas.seen([row(20_000, 0), row(19_000, 0), row(100, 1)])
    expect(startOf(0)).toBe(15_000)
    expect(startOf(1)).toBe(0)
    now = 10_001
    expect(startOf(0)).toBe(0)
    expect(startOf(0)).toBe(15_000)
  })
})

it('a queue at its high-water mark is closed, and asked about only now and then, or when it may be full', async () => {
  let asked = 0
  const { isOpen, published } = createWaterGauge({
    waitingMax: 10,
    waiting: async (queue) => {
      asked += 1
      return queue === 'full' ? 10 : 9
    },
  })
  expect(await isOpen('full')).toBe(false)
  expect(await isOpen('free')).toBe(true)
  expect(await isOpen('full')).toBe(false)
  expect(asked).toBe(2)
  published([{ queue: 'free' }])
  expect(await isOpen('free')).toBe(true)
  expect(asked).toBe(3)
})

/** A server that can forget. */
function forgetfulServer() {
  const known = new Map<string, number>()
  const key = (mark: NextMark) => `${mark.queue} ${mark.relay}`
  return {
    known,
    writeMarks: async (marks: readonly NextMark[]) =>
      marks.map((mark) => {
        const fits = mark.previous === null || known.get(key(mark)) === mark.previous
        if (fits) known.set(key(mark), mark.mark)
        return fits
      }),
  }
}
const published = (...queues: string[]) => queues.map((queue) => ({ queue }))

describe('the marks of a relay', () => {
  it('count up for each queue that was published to', async () => {
    const marker = createMarker(forgetfulServer())
    const [first] = await marker.mark(published('risk', 'risk'))
    const [second, other] = await marker.mark(published('risk', 'legal'))
    expect(second).toEqual({ queue: 'risk', relay: first?.relay, mark: 2 })
    expect(other).toMatchObject({ queue: 'legal', mark: 1 })
    expect(other?.relay).not.toBe(first?.relay)
  })

  it('begin a new row where the predecessor is gone, and leave the old one missing', async () => {
    const server = forgetfulServer()
    const marker = createMarker(server)
    const [before] = await marker.mark(published('risk'))
    server.known.clear()
    const [after] = await marker.mark(published('risk'))
    expect(after).toMatchObject({ queue: 'risk', mark: 1 })
    expect([...server.known.keys()]).toEqual([`risk ${after?.relay}`])
    expect(after?.relay).not.toBe(before?.relay)
  })

  it('begin a new row after a write that was not answered', async () => {
    const server = forgetfulServer()
    let answers = true
    const marker = createMarker({
      writeMarks: async (marks) => {
        const written = await server.writeMarks(marks)
        if (!answers) throw new Error('executed, but nobody heard')
        return written
      },
    })
    const [before] = await marker.mark(published('risk'))
    answers = false
    await expect(marker.mark(published('risk'))).rejects.toThrow('nobody heard')
    answers = true
    const [after] = await marker.mark(published('risk'))
    expect(after?.relay).not.toBe(before?.relay)
  })

  it('are none where a queue cannot lose its tail', async () => {
    expect(await createMarker({ writeMarks: null }).mark(published('risk'))).toEqual([])
  })
})
