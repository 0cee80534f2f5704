// Each claim is shared out by priority, starts near where the last one ended, and stops at the high-water mark;
// a watermark is written over its own predecessor only, otherwise a new row begins, so that it never covers up a loss.
import type { NextWatermark } from '@baton/protocol'
import type { OutboxRow } from '@baton/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  BATCH_MAX,
  createClassQuotas,
  createHighWaterMark,
  createWatermarkWriter,
  isFilled,
} from './relay-outbox.ts'

const priorityClass = (priority: number, queue = 'q') => ({ queue, priority })
const row = (seq: number, priority: 0 | 1 | 2 | 3) =>
  ({ ...priorityClass(priority), seq }) as OutboxRow

describe('the shares of a claim', () => {
  it('are 8, 4, 2 and 1 parts for priorities 0 to 3', () => {
    const quotas = createClassQuotas().of([0, 1, 2, 3].map((priority) => priorityClass(priority)))
    expect(quotas.map((quota) => quota.limit)).toEqual([106, 53, 26, 13])
  })

  it('leave every priority class at least one row, and a lone priority class the whole claim', () => {
    expect(createClassQuotas().of([priorityClass(3)])[0]?.limit).toBe(BATCH_MAX)
    const priority = fc.integer({ min: 0, max: 3 })
    fc.assert(
      fc.property(fc.array(priority, { minLength: 1, maxLength: 500 }), (priorities) => {
        const classes = priorities.map((one, index) => priorityClass(one, `q${index}`))
        const limits = createClassQuotas()
          .of(classes)
          .map((quota) => quota.limit)
        expect(Math.min(...limits)).toBeGreaterThanOrEqual(1)
        const sum = limits.reduce((total, limit) => total + limit, 0)
        expect(sum).toBeLessThanOrEqual(Math.max(BATCH_MAX, 2 * classes.length))
      }),
    )
  })
})

describe('a claim', () => {
  it('is filled when one priority class gave all it was asked for, whatever the others gave', () => {
    const quotas = [
      { ...priorityClass(0), afterSeq: 0, limit: 2 },
      { ...priorityClass(2), afterSeq: 0, limit: 3 },
    ]
    expect(isFilled(quotas, [row(1, 0), row(2, 2), row(3, 2)])).toBe(false)
    expect(isFilled(quotas, [row(1, 0), row(4, 0)])).toBe(true)
    expect(isFilled(quotas, [])).toBe(false)
  })
})

describe('where a claim starts', () => {
  it('is shortly before the last row seen, and the beginning every ten seconds', () => {
    let now = 0
    const quotas = createClassQuotas(() => now)
    const startOf = (priority: number) => quotas.of([priorityClass(priority)])[0]?.afterSeq
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
  const { isOpen, published } = createHighWaterMark({
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
  const key = (watermark: NextWatermark) => `${watermark.queue} ${watermark.relay}`
  return {
    known,
    writeWatermarks: async (watermarks: readonly NextWatermark[]) =>
      watermarks.map((watermark) => {
        const fits = watermark.previous === null || known.get(key(watermark)) === watermark.previous
        if (fits) known.set(key(watermark), watermark.watermark)
        return fits
      }),
  }
}
const published = (...queues: string[]) => queues.map((queue) => ({ queue }))

describe('the watermarks of a relay', () => {
  it('count up for each queue that was published to', async () => {
    const watermarkWriter = createWatermarkWriter(forgetfulServer())
    const [first] = await watermarkWriter.write(published('risk', 'risk'))
    const [second, other] = await watermarkWriter.write(published('risk', 'legal'))
    expect(second).toEqual({ queue: 'risk', relay: first?.relay, watermark: 2 })
    expect(other).toMatchObject({ queue: 'legal', watermark: 1 })
    expect(other?.relay).not.toBe(first?.relay)
  })

  it('begin a new row where the predecessor is gone, and leave the old one missing', async () => {
    const server = forgetfulServer()
    const watermarkWriter = createWatermarkWriter(server)
    const [before] = await watermarkWriter.write(published('risk'))
    server.known.clear()
    const [after] = await watermarkWriter.write(published('risk'))
    expect(after).toMatchObject({ queue: 'risk', watermark: 1 })
    expect([...server.known.keys()]).toEqual([`risk ${after?.relay}`])
    expect(after?.relay).not.toBe(before?.relay)
  })

  it('begin a new row after a write that was not answered', async () => {
    const server = forgetfulServer()
    let answers = true
    const watermarkWriter = createWatermarkWriter({
      writeWatermarks: async (watermarks) => {
        const written = await server.writeWatermarks(watermarks)
        if (!answers) throw new Error('executed, but nobody heard')
        return written
      },
    })
    const [before] = await watermarkWriter.write(published('risk'))
    answers = false
    await expect(watermarkWriter.write(published('risk'))).rejects.toThrow('nobody heard')
    answers = true
    const [after] = await watermarkWriter.write(published('risk'))
    expect(after?.relay).not.toBe(before?.relay)
  })

  it('are none where a queue cannot lose its tail', async () => {
    expect(await createWatermarkWriter({ writeWatermarks: null }).write(published('risk'))).toEqual(
      [],
    )
  })
})
