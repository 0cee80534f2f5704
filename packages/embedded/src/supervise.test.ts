// What ends is started again and counted, what keeps ending is left with its last words, and a stop starts nothing more.
import { expect, it } from 'vitest'
import { supervise } from './supervise.ts'
import type { End, Lifetime, SupervisionEvent } from './supervise.ts'

const KILLED: End = { how: 'SIGKILL', words: '' }
const FULL: End = { how: 'exit code 1', words: 'ENOSPC: no space left on device, write' }

/** A process whose lives end when the test says so, at a clock of the test. */
function fakeProcess() {
  const lives: ((end: End) => void)[] = []
  const events: SupervisionEvent[] = []
  const told = () => events.map(({ kind }) => kind)
  let nowMs = 0
  let refusal: Error | undefined
  let heard = Promise.withResolvers<void>()
  const born = (): Lifetime => {
    const { promise: ended, resolve } = Promise.withResolvers<End>()
    lives.push(resolve)
    return { pid: lives.length, ended }
  }
  const supervision = supervise(
    {
      name: 'relay',
      logPath: 'relay.log',
      async start() {
        if (refusal !== undefined) throw refusal
        return born()
      },
      obstacle: ({ words }) => (words.includes('ENOSPC') ? 'the disk is full' : undefined),
    },
    born(),
    {
      notify(event) {
        events.push(event)
        heard.resolve()
      },
      now: () => nowMs,
      pause: async (ms) => void (nowMs += ms),
    },
  )
  return {
    supervision,
    events,
    told,
    refuse: (error: Error | undefined) => (refusal = error),
    end: (end: End) => lives.at(-1)?.(end),
    /** Resolves once so much was told. */
    async until(count: number) {
      while (events.length < count) {
        heard = Promise.withResolvers<void>()
        await heard.promise
      }
    },
  }
}

it('starts again what was killed, says so, and counts', async () => {
  const { supervision, events, end, until } = fakeProcess()
  end(KILLED)
  await until(2)
  expect(events).toEqual([
    { kind: 'ended', name: 'relay', end: KILLED, obstacle: undefined, waitMs: 250 },
    { kind: 'restarted', name: 'relay', pid: 2, restarts: 1 },
  ])
  expect(supervision.seen()).toMatchObject({
    pid: 2,
    restarts: 1,
    lastEnd: 'SIGKILL',
    isLeft: false,
  })
})

it('leaves what keeps ending, with its last words and its log', async () => {
  const { supervision, events, end, until } = fakeProcess()
  for (let lives = 1; lives < 5; lives += 1) {
    end(KILLED)
    await until(2 * lives)
  }
  const last = { how: 'exit code 1', words: 'BATON_SOMETHING: it is broken' }
  end(last)
  await until(9)
  expect(events.at(-1)).toEqual({
    kind: 'left',
    name: 'relay',
    end: last,
    endings: 5,
    logPath: 'relay.log',
  })
  expect(supervision.seen()).toMatchObject({ restarts: 4, isLeft: true })
})

it('counts a start that fails, and leaves it too', async () => {
  const { events, end, refuse, until, told } = fakeProcess()
  refuse(new Error('the relay was not ready within 30 s'))
  end(KILLED)
  await until(5)
  expect(told()).toEqual(['ended', 'ended', 'ended', 'ended', 'left'])
  expect(events.at(-1)).toMatchObject({ end: { words: 'the relay was not ready within 30 s' } })
})

it('goes on by itself when what stood in the way is gone, however long that took, and says it once', async () => {
  const { events, end, refuse, until, told } = fakeProcess()
  let starts = 0
  refuse(
    // Told apart from other errors by its words alone, as those of a process are.
    Object.defineProperty(new Error(), 'message', {
      get() {
        starts += 1
        if (starts === 50) refuse(undefined)
        return FULL.words
      },
    }),
  )
  end(FULL)
  await until(2)
  expect(told()).toEqual(['ended', 'restarted'])
  expect(events[0]).toMatchObject({ obstacle: 'the disk is full' })
})

it('starts nothing once it was stopped', async () => {
  const { supervision, events, end, until } = fakeProcess()
  end(KILLED)
  await until(2)
  supervision.stop()
  end(KILLED)
  await Promise.resolve()
  expect(events).toHaveLength(2)
})
