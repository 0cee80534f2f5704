// What a main job says of itself, judged by everything but its speed: that is for benchmarks on quiet machines.
import { expect } from 'vitest'
import type { Finished } from './command-line.ts'

type Json = Record<string, unknown>

const PROBLEM = '✗ not as promised'
const TOO_SLOW = /p99 from dispatch to accept is \d+ ms/

/** Whether a main job that ended so kept every promise, but for its latency. */
export function isFine({ exitCode, stderr }: Omit<Finished, 'stdout'>): boolean {
  const problems = stderr.split('\n').filter((line) => line.includes(PROBLEM))
  const isOnlySlow = problems.length > 0 && problems.every((line) => TOO_SLOW.test(line))
  return exitCode === 0 || (exitCode === 1 && isOnlySlow)
}

/** The summary of `up --once --json`. Fails with its words where it was not fine. */
export function summaryOf(finished: Finished): Json {
  if (!isFine(finished)) throw new Error(finished.stderr)
  const summary = JSON.parse(finished.stdout) as Json
  expect(summary['ok']).toBe(finished.exitCode === 0)
  return summary
}
