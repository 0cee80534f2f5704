// Named places in the four programs: each is said as a line, and a program that is told to dies there without a word.
import { writeSync } from 'node:fs'

/** The places, in the order in which a task without a kill passes them. */
export const POINTS = [
  'desk asks its model',
  'desk is answered',
  'planner begins',
  'planner has planned',
  'planner has handed over',
  'writer begins',
  'writer has written',
  'writer has handed over',
  'checker begins',
  'checker has checked',
] as const

export type Point = (typeof POINTS)[number]

/** `FOUR_DIE_AT` names one: kill -9 by the program itself, so that nothing of it runs afterwards. */
export function pass(point: Point): void {
  writeSync(1, `${point}\n`)
  if (process.env['FOUR_DIE_AT'] === point) process.kill(process.pid, 'SIGKILL')
}
