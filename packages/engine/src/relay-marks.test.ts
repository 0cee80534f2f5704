// A mark never covers up a loss: it is written over its own predecessor only, otherwise a new row begins.
import type { NextMark } from '@baton/protocol'
import { describe, expect, it } from 'vitest'
import { createMarker } from './relay-marks.ts'

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
