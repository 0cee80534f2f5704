// Threads take what is dear off the event loop, in turns and in bounds; a task that ends its thread ends alone.
import { getPriority } from 'node:os'
import { afterEach, describe, expect, it } from 'vitest'
import type { TestTask } from '../fixtures/thread-of-tests.ts'
import { createThreads } from './threads.ts'
import type { Threads, ThreadsOptions } from './threads.ts'

const MODULE = new URL('../fixtures/thread-of-tests.ts', import.meta.url)
const BOUNDS = { threadsMax: 1, waitingMax: 4, waitingShareMax: 3, endMs: 30_000 }

let opened: Threads<TestTask, unknown>[] = []
const open = (bounds: Partial<ThreadsOptions> = {}): Threads<TestTask, unknown> => {
  const threads = createThreads<TestTask, unknown>({ module: MODULE, ...BOUNDS, ...bounds })
  opened.push(threads)
  return threads
}
/** A task that runs until it is let go. */
const gate = () => {
  const shared = new Int32Array(new SharedArrayBuffer(4))
  const letGo = (): void => {
    Atomics.store(shared, 0, 1)
    Atomics.notify(shared, 0)
  }
  return { task: { kind: 'wait', gate: shared } as const, letGo }
}
const answer = (text: string) => ({ kind: 'answer', text }) as const

afterEach(async () => {
  await Promise.all(opened.map((threads) => threads.close()))
  opened = []
})

describe('threads', () => {
  it('answer one task after another in one thread, while the event loop goes on', async () => {
    const threads = open()
    const { task, letGo } = gate()
    const waits = threads.run('a', task)
    await new Promise(setImmediate)
    letGo()
    await waits
    const both = await Promise.all([
      threads.run('a', answer('one')),
      threads.run('a', answer('two')),
    ])
    expect(both).toMatchObject([
      { kind: 'done', result: { text: 'one' } },
      { kind: 'done', result: { text: 'two' } },
    ])
    const ids = both.map(
      (one) => one.kind === 'done' && (one.result as { threadId: number }).threadId,
    )
    expect(new Set(ids).size).toBe(1)
  })

  it('take turns between shares, however much one has given before', async () => {
    const threads = open({ waitingMax: 20, waitingShareMax: 10 })
    const order: string[] = []
    const { task, letGo } = gate()
    const first = threads.run('flood', task)
    const told = (share: string) => threads.run(share, answer(share)).then(() => order.push(share))
    const all = ['flood', 'flood', 'flood', 'other', 'third', 'other'].map(told)
    letGo()
    await Promise.all([first, ...all])
    expect(order).toEqual(['flood', 'other', 'third', 'flood', 'other', 'flood'])
  })

  it('leave one of several threads to others', async () => {
    const threads = open({ threadsMax: 2 })
    const held = [gate(), gate()]
    const flood = held.map(({ task }) => threads.run('flood', task))
    expect(await threads.run('other', answer('served'))).toMatchObject({ kind: 'done' })
    for (const { letGo } of held) letGo()
    expect(await Promise.all(flood)).toMatchObject([{ kind: 'done' }, { kind: 'done' }])
  })

  it('let so much wait and no more, of one share and in all; a share with nothing always has room', async () => {
    const threads = open()
    const { task, letGo } = gate()
    const taken = [threads.run('a', task)]
    for (let nth = 0; nth < 3; nth += 1) taken.push(threads.run('a', answer('a')))
    expect(await threads.run('a', answer('a'))).toEqual({ kind: 'refused' })
    taken.push(threads.run('b', answer('b')))
    expect(await threads.run('b', answer('b'))).toEqual({ kind: 'refused' })
    taken.push(threads.run('c', answer('c')))
    letGo()
    for (const outcome of await Promise.all(taken)) expect(outcome.kind).toBe('done')
  })

  it.each([
    ['for ever', 'took too long', { endMs: 400 }],
    ['memory', 'ended its thread', { heapMiBMax: 32 }],
    ['throw', 'ended its thread', {}],
    ['exit', 'ended its thread', {}],
  ] as const)(
    'end a task that goes on %s, and run the next in a new thread',
    async (kind, why, bounds) => {
      const threads = open(bounds)
      const [ended, next] = await Promise.all([
        threads.run('a', { kind }),
        threads.run('a', answer('next')),
      ])
      expect(ended).toEqual({ kind: 'ended', why })
      expect(next).toMatchObject({ kind: 'done', result: { text: 'next' } })
    },
  )

  it('answer what waits and what runs when they are closed, and take nothing after', async () => {
    const threads = open()
    const { task } = gate()
    const taken = [threads.run('a', task), threads.run('a', answer('waits'))]
    await threads.close()
    const refused = { kind: 'refused' }
    expect(await Promise.all(taken)).toEqual([refused, refused])
    expect(await threads.run('a', answer('late'))).toEqual(refused)
  })

  it('refuse a task where no thread can be had, which is no fault of the task', async () => {
    const module = new URL('../fixtures/no-such-thread.ts', import.meta.url)
    expect(await open({ module }).run('a', answer('a'))).toEqual({ kind: 'refused' })
  })

  it('reject what no thread can be given, and go on', async () => {
    const threads = open()
    const task = { kind: 'answer', text: (() => '') as unknown as string } as const
    await expect(threads.run('a', task)).rejects.toThrow('could not be cloned')
    expect(await threads.run('a', answer('next'))).toMatchObject({ kind: 'done' })
  })

  it('see nothing of the environment', async () => {
    expect(await open().run('a', { kind: 'environment' })).toEqual({ kind: 'done', result: {} })
  })

  it.runIf(process.platform === 'linux')(
    'come after the event loop of their process (only on Linux)',
    async () => {
      const own = getPriority()
      const inside = await open().run('a', { kind: 'priority' })
      expect(inside).toEqual({ kind: 'done', result: Math.min(19, own + 5) })
      expect(getPriority()).toBe(own)
    },
  )
})
