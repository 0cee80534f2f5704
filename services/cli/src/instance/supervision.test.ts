// One line tells what happened and why; a process that something else keeps from running is not blamed.
import type { ServerEvent } from '@baton/embedded'
import { createLogger } from '@baton/runtime'
import { expect, it } from 'vitest'
import { createOutput } from '../terminal/output.ts'
import { createWatch, describeEvent, obstacleOf } from './supervision.ts'

const KILLED = { how: 'SIGKILL', words: '' }
const BROKEN = {
  how: 'exit code 1',
  words: 'BATON_AGENTS_INVALID: no agents there\n  Name a file.',
}
const LEFT: ServerEvent = {
  kind: 'left',
  name: 'receiver',
  end: BROKEN,
  endings: 5,
  logPath: '/x/logs/receiver.log',
}

it('tells each event in one line, with its cause', () => {
  const textOf = (event: ServerEvent) => describeEvent(event).text
  const ended = { kind: 'ended', name: 'relay', obstacle: undefined, waitMs: 250 } as const
  expect(textOf({ ...ended, end: KILLED })).toBe(
    'ended (SIGKILL: by somebody, or by the system for want of memory); starts again in 0.3 s',
  )
  expect(textOf({ ...ended, end: BROKEN })).toBe(
    'ended (exit code 1: BATON_AGENTS_INVALID: no agents there); starts again in 0.3 s',
  )
  expect(textOf({ kind: 'restarted', name: 'relay', pid: 7, restarts: 2 })).toBe(
    'runs again: process 7, start 3',
  )
})

it('names what is left with its last words and its log', () => {
  const { text } = describeEvent(LEFT)
  expect(text).toMatch(/^ended 5 times within a minute \(exit code 1.*is left; the rest goes on/)
  expect(text).toContain('Its last words:\n    BATON_AGENTS_INVALID: no agents there\n')
  expect(text).toContain('/x/logs/receiver.log')
})

it('knows what stands in the way of a process', () => {
  const words = (text: string) => obstacleOf({ how: 'exit code 1', words: text })
  expect(words('BATON_DATABASE_UNAVAILABLE: the database did not answer\n  Check it.')).toBe(
    'BATON_DATABASE_UNAVAILABLE: the database did not answer.',
  )
  expect(words('ENOSPC: no space left on device, write')).toMatch(/the disk is full.*df -h/)
  expect(words('FATAL ERROR: JavaScript heap out of memory')).toBeUndefined()
  expect(obstacleOf(BROKEN)).toBeUndefined()
})

it('tells those who wait for what counts, also those who come later', async () => {
  const written: string[] = []
  const output = createOutput(
    { stdout: { write: () => true }, stderr: { write: (text) => written.push(text) } },
    false,
  )
  const logger = createLogger({ service: 'cli', level: 'silent' })
  let changes = 0
  const watch = createWatch({ output, logger }, () => (changes += 1))
  const early = watch.whenLeft((name) => name === 'receiver')
  watch.notify(LEFT)
  await expect(early).rejects.toMatchObject({ code: 'BATON_SERVICE_LEFT' })
  await expect(watch.whenLeft()).rejects.toMatchObject({ code: 'BATON_SERVICE_LEFT' })
  expect([watch.left(), changes, written.length]).toEqual([['receiver'], 1, 1])
})
