// No more are inside than may be, whoever waits comes in order, and whoever gives up leaves no gap.
import { expect, it } from 'vitest'
import { createTurnstile } from './turnstile.ts'

it('lets so many in at once, and others in their order, whatever becomes of those inside', async () => {
  const enter = createTurnstile(2)
  const ends = Array.from({ length: 5 }, () => Promise.withResolvers<number>())
  const begun: number[] = []
  const all = ends.map((end, index) =>
    enter(() => {
      begun.push(index)
      return end.promise
    }),
  )
  const settled = Promise.allSettled(all)
  expect(begun).toEqual([0, 1])
  ends[1]?.reject(new Error('failed inside'))
  await expect(all[1]).rejects.toThrow('failed inside')
  expect(begun).toEqual([0, 1, 2])
  for (const [index, end] of ends.entries()) end.resolve(index)
  await settled
  expect(begun).toEqual([0, 1, 2, 3, 4])
})

it('begins nothing for whoever gave up, and lets the next in instead', async () => {
  const enter = createTurnstile(1)
  const first = Promise.withResolvers<string>()
  const inside = enter(() => first.promise)
  const leaving = new AbortController()
  const gaveUp = enter(() => Promise.reject(new Error('begun')), leaving.signal)
  const next = enter(() => Promise.resolve('next'))
  leaving.abort(new Error('too late'))
  await expect(gaveUp).rejects.toThrow('too late')
  await expect(enter(() => Promise.resolve(''), leaving.signal)).rejects.toThrow('too late')
  first.resolve('first')
  expect(await Promise.all([inside, next])).toEqual(['first', 'next'])
})
