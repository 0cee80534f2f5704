// What Redis remembers behind the jobs, on the connection that published them.
import type { Redis } from 'ioredis'
import type { NextMark, QueueMark } from './transport.ts'

/** Longer than Postgres keeps a mark that nobody renews. */
const KEPT_SECONDS = 2 * 3_600

// A mark is never written over the place of one that was lost: the loss would go unseen.
const WRITE = `
if ARGV[1] ~= '' and redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
return 1`

export type KeyOf = (agentType: string, part: string) => string

const markKey = ({ queue, relay }: QueueMark, keyOf: KeyOf): string => keyOf(queue, `mark:${relay}`)

// One command a key: the queues of a Redis Cluster live in different slots.
export async function writeMarks(
  redis: Redis,
  marks: readonly NextMark[],
  keyOf: KeyOf,
): Promise<readonly boolean[]> {
  const replies = await Promise.all(
    marks.map((one) => {
      const values = [one.previous ?? '', one.mark, KEPT_SECONDS]
      return redis.eval(WRITE, 1, markKey(one, keyOf), ...values)
    }),
  )
  return replies.map((reply) => reply === 1)
}

export async function readMarks(
  redis: Redis,
  marks: readonly QueueMark[],
  keyOf: KeyOf,
): Promise<readonly (number | null)[]> {
  const replies = await Promise.all(marks.map((one) => redis.get(markKey(one, keyOf))))
  return replies.map((reply) => (reply === null ? null : Number(reply)))
}
