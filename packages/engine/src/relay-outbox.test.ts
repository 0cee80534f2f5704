// A queue is published to up to its high-water mark;
// a watermark is written over its own predecessor only, otherwise a new row begins, so that it never covers up a loss.
import type { NextWatermark } from '@baton/protocol'
import { describe, expect, it } from 'vitest'
import { createHighWaterMark, createWatermarkWriter } from './relay-outbox.ts'

it('a queue at its high-water mark is closed, and asked about only now and then, or when it may be full', async () => {
  let asked = 0
  const { isOpen, published } = createHighWaterMark({
    waiting: async (queue) => {
      asked += 1
      return queue === 'full' ? 10 : 9
    },
  })
  expect(await isOpen('full', 10)).toBe(false)
  expect(await isOpen('free', 10)).toBe(true)
  expect(await isOpen('full', 10)).toBe(false)
  expect(asked).toBe(2)
  published([{ queue: 'free' }])
  expect(await isOpen('free', 10)).toBe(true)
  expect(asked).toBe(3)
  // Open for whose queue it is, closed for whom it was granted.
  expect([await isOpen('free', 10), await isOpen('free', 5)]).toEqual([true, false])
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
