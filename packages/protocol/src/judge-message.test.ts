// Validation of a message in memory: any value gets a verdict.
import { describe, expect, it } from 'vitest'
import {
  sampleAgent,
  sampleKeyRing,
  sampleMessage,
  sampleScan,
} from '../fixtures/sample-handoff.ts'
import { judgeMessage } from './judge-message.ts'
import { signHandoff } from './signature.ts'

const WITH_SCAN = { scan: sampleScan }

describe('judgeMessage', () => {
  it('says what it was told not to look at', () => {
    expect(judgeMessage(sampleMessage(), { scan: undefined })).toMatchObject({
      valid: true,
      checks: { signature: 'skipped', schema: 'passed', safety: 'skipped' },
    })
  })

  it('verifies a signature with the keys it is given, before anything else', () => {
    const judge = (message: unknown) =>
      judgeMessage(message, { scan: sampleScan, keyRing: sampleKeyRing })
    const { message: signed } = signHandoff(sampleMessage(), sampleKeyRing)
    expect(judge(signed)).toMatchObject({ valid: true, checks: { signature: 'passed' } })
    for (const wrong of [
      { ...signed, taskDescription: 'another' },
      { ...signed, signature: 7 },
      { ...signed, signatureKeyId: 'unknown' },
      sampleMessage(),
      {},
    ])
      expect(judge(wrong)).toMatchObject({
        valid: false,
        reason: 'SIGNATURE_INVALID',
        checks: { signature: 'failed', schema: 'skipped' },
      })
    expect(judge([signed])).toMatchObject({ reason: 'SCHEMA_INVALID' })
  })

  it('checks state, version and safety when it is told how', () => {
    const options = { agent: sampleAgent, scan: sampleScan }
    expect(judgeMessage(sampleMessage({ currentState: {} }), options)).toMatchObject({
      reason: 'INCOMPLETE_CONTEXT',
    })
    expect(
      judgeMessage(sampleMessage(), {
        ...options,
        agent: { ...sampleAgent, version: '1.0.0' },
      }),
    ).toMatchObject({ reason: 'SCHEMA_INVALID' })
    expect(judgeMessage(sampleMessage(), options)).toMatchObject({
      valid: true,
      checks: { scan: { decision: 'allow' } },
    })
  })

  it('returns a copy that the caller cannot change afterwards', () => {
    const message = sampleMessage()
    const verdict = judgeMessage(message, WITH_SCAN)
    message.taskId = 'changed'
    expect(verdict.valid && verdict.message.taskId).toBe(sampleMessage().taskId)
  })

  it('reads every member once, so a getter cannot answer twice', () => {
    let reads = 0
    const message = Object.defineProperty({ ...sampleMessage() }, 'taskId', {
      enumerable: true,
      get: () => (reads++ === 0 ? sampleMessage().taskId : 'not a uuid'),
    })
    expect(judgeMessage(message, WITH_SCAN)).toMatchObject({
      valid: true,
      message: { taskId: sampleMessage().taskId },
    })
    expect(reads).toBe(1)
  })

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['text', 'INITIAL'],
    ['a list', [sampleMessage()]],
    ['a function', () => sampleMessage()],
    ['a symbol', Symbol('x')],
    ['a big integer', 10n],
    ['a promise', Promise.resolve(sampleMessage())],
    ['an empty object', {}],
    ['an object without prototype', Object.create(null)],
    [
      'a proxy',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no')
          },
          ownKeys: () => ['a'],
          getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
        },
      ),
    ],
    ['a revoked proxy', revoked()],
  ])('calls %s SCHEMA_INVALID', (_, value) => {
    expect(judgeMessage(value, WITH_SCAN)).toMatchObject({ valid: false, reason: 'SCHEMA_INVALID' })
  })

  it('is not fooled by inherited fields', () => {
    const message = Object.create(sampleMessage())
    expect(judgeMessage(message, WITH_SCAN)).toMatchObject({ reason: 'SCHEMA_INVALID' })
    expect(
      judgeMessage({ ...sampleMessage(), fromAgent: Object.create({ agentId: 'a' }) }, WITH_SCAN),
    ).toMatchObject({ reason: 'SCHEMA_INVALID' })
  })

  it('lists every error at once, at most fifty', () => {
    const verdict = judgeMessage({ schemaVersion: '2.0' }, WITH_SCAN)
    expect(verdict.valid || verdict.details).toHaveLength(17)
    const turns = Array.from({ length: 1000 }, () => ({}))
    const many = judgeMessage(
      sampleMessage({ conversationHistoryVerbatim: turns as never }),
      WITH_SCAN,
    )
    expect(many.valid || many.details).toHaveLength(50)
  })

  it('never repeats a value, and cuts an absurd key', () => {
    const verdict = judgeMessage(
      {
        ...sampleMessage(),
        [`secret${'x'.repeat(200_000)}`]: 'canary',
        handoffId: 'canary',
      },
      WITH_SCAN,
    )
    expect(JSON.stringify(verdict.valid || verdict.details)).not.toContain('canary')
    expect(JSON.stringify(verdict.valid || verdict.details).length).toBeLessThan(5000)
  })
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
