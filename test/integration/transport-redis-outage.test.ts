// What a process does while Redis is away: publications fail soon and as transient errors, nothing
// crashes, and everything goes on by itself when it is back, whichever way it went.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createLogger } from '@baton/runtime'
import {
  acquireRedis,
  describeWith,
  eventually,
  openLink,
  sendToRedis,
  startOwnRedis,
  uniqueName,
} from '@baton/testkit'
import type { Link } from '@baton/testkit'
import { checkRedisSafety, createRedisTransport, jobIdOf } from '@baton/transport'
import type { Transport } from '@baton/transport'
import { afterAll, afterEach, beforeEach, expect, it } from 'vitest'
import { handledBy, jobs } from '../contract/transport-contract-kit.ts'

const logger = createLogger({ service: 'test', level: 'silent' })
/** The publisher gives up after two seconds; the rest is the machine's. */
const PUBLISH_FAILS_WITHIN_MS = 10_000
/** Consumers notice a silent link within five seconds and reconnect within one. */
const RESUMES_WITHIN_MS = 15_000

describeWith('a Redis that goes away', await acquireRedis(), ({ url }) => {
  let link: Link
  let transport: Transport
  let queue: string
  let prefix: string

  beforeEach(async () => {
    link = await openLink(url)
    prefix = uniqueName('outage')
    queue = uniqueName('queue')
    transport = createRedisTransport({ url: link.url, logger, prefix })
  })
  afterEach(async () => {
    link.heal()
    await transport.close()
    await link.close()
  })

  async function expectUnavailable(work: () => Promise<unknown>): Promise<void> {
    const startedAt = performance.now()
    await expect(work()).rejects.toMatchObject({
      kind: 'transient',
      code: 'BATON_QUEUE_UNAVAILABLE',
    })
    expect(performance.now() - startedAt).toBeLessThan(PUBLISH_FAILS_WITHIN_MS)
  }

  async function expectAllRefused(): Promise<void> {
    await expectUnavailable(() => transport.publish(jobs(queue, 3)))
    await expectUnavailable(() => transport.missing([{ queue, jobId: 'h-1-1' }]))
    await expectUnavailable(() => transport.waiting(queue))
  }

  async function expectDelivery(handled: ReturnType<typeof handledBy>): Promise<void> {
    const published = jobs(queue, 3)
    await eventually(() => transport.publish(published).then(() => true), {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'a publication to be accepted',
    })
    const arrived = () => published.every((job) => handled.ids().includes(jobIdOf(job.pointer)))
    await eventually(arrived, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: () => `${handled.seen.length} handled`,
    })
    expect(arrived()).toBe(true)
  }

  it('is down from the start: the transport opens all the same and works once it is up', async () => {
    link.cut()
    const early = createRedisTransport({ url: link.url, logger, prefix })
    const handled = handledBy(early, queue)
    await expect(early.publish(jobs(queue, 1))).rejects.toMatchObject({ kind: 'transient' })
    link.heal()
    await expectDelivery(handled)
    await early.close()
  })

  it('drops every connection: publications fail at once, and both sides come back', async () => {
    const handled = handledBy(transport, queue)
    await expectDelivery(handled)
    link.cut()
    await expectAllRefused()
    link.heal()
    await expectDelivery(handled)
    expect(handled.seen.length).toBeGreaterThanOrEqual(6)
  })

  it('falls silent without closing: both sides leave the half-open link', async () => {
    const handled = handledBy(transport, queue)
    await expectDelivery(handled)
    link.fallSilent()
    await expectUnavailable(() => transport.publish(jobs(queue, 3)))
    link.heal()
    await expectDelivery(handled)
    expect(handled.seen.length).toBeGreaterThanOrEqual(6)
  })

  it('drops the connection under a running handler: the handler ends, later jobs follow', async () => {
    const held = Promise.withResolvers<void>()
    let ended = 0
    await transport.consume({
      queue,
      concurrency: 1,
      handle: async () => {
        await held.promise
        ended += 1
      },
    })
    await transport.publish(jobs(queue, 2))
    await eventually(async () => (await transport.waiting(queue)) === 1, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'the first job to start',
    })
    link.cut()
    held.resolve()
    await eventually(() => ended === 1, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'the handler to end',
    })
    link.heal()
    await eventually(() => ended === 2, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: () => `${ended} of 2 ended`,
    })
    // The publishing side reconnects on its own time.
    await eventually(async () => (await transport.waiting(queue)) === 0, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'no job to be left over',
    })
    expect(ended).toBe(2)
  })

  it('is down when the process stops: the stop does not wait for it', async () => {
    const handled = handledBy(transport, queue)
    await expectDelivery(handled)
    link.cut()
    const startedAt = performance.now()
    await transport.close()
    expect(performance.now() - startedAt).toBeLessThan(15_000)
  })
})

describeWith('a Redis of its own', await startOwnRedis(), (redis) => {
  afterAll(() => redis.stop())

  it('comes back empty: scripts and jobs are gone, the loss is seen, work goes on', async () => {
    const link = await openLink(redis.url)
    const transport = createRedisTransport({ url: link.url, logger })
    const handled = handledBy(transport, 'risk')
    await transport.publish(jobs('risk', 5))
    await handled.reaches(5)
    const unheard = jobs('nobody', 2)
    await transport.publish(unheard)
    link.cut()
    await sendToRedis(redis.url, [['FLUSHALL'], ['SCRIPT', 'FLUSH']])
    link.heal()
    const asked = unheard.map((job) => ({ queue: job.queue, jobId: jobIdOf(job.pointer) }))
    const missing = await eventually(() => transport.missing(asked), {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'an answer',
    })
    expect(missing).toEqual(asked.map((job) => job.jobId))
    await transport.publish(jobs('risk', 5))
    await handled.reaches(10, RESUMES_WITHIN_MS)
    await transport.close()
    await link.close()
  })

  it('loses its consumer to kill -9: another takes the job over within the lock and the check', async () => {
    const script = new URL('./transport-stuck-consumer.ts', import.meta.url)
    const child = fork(script, [redis.url, 'takeover'], { stdio: 'inherit' })
    await once(child, 'message')
    const transport = createRedisTransport({ url: redis.url, logger })
    const published = jobs('takeover', 1)
    await transport.publish(published)
    await once(child, 'message')
    child.kill('SIGKILL')
    const handled = handledBy(transport, 'takeover')
    await handled.reaches(1, 20_000)
    expect(handled.ids()).toEqual(published.map((job) => jobIdOf(job.pointer)))
    await transport.close()
  })

  it('is judged by what it says about itself', async () => {
    const unsafe = async () =>
      (await checkRedisSafety(redis))
        .filter((finding) => finding.severity === 'unsafe')
        .map((finding) => finding.code)
    expect(await unsafe()).toEqual([])
    await sendToRedis(redis.url, [
      ['CONFIG', 'SET', 'appendonly', 'no'],
      ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'],
    ])
    expect(await unsafe()).toEqual(['BATON_REDIS_NOT_DURABLE', 'BATON_REDIS_EVICTS'])
  })

  it('reports a Redis that cannot be asked as a transient error', async () => {
    await expect(checkRedisSafety({ url: 'redis://127.0.0.1:1' })).rejects.toMatchObject({
      kind: 'transient',
      code: 'BATON_QUEUE_UNAVAILABLE',
    })
  })
})
