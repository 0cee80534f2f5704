// Validation of a message in memory: any value gets a verdict.
import { describe, expect, it } from 'vitest'
import { sampleAgent, sampleMessage, sampleScan } from '../fixtures/sample-handoff.ts'
import { validateHandoffMessage } from './validate-handoff.ts'

describe('validateHandoffMessage', () => {
  it('accepts a message without any options', () => {
    expect(validateHandoffMessage(sampleMessage())).toMatchObject({
      valid: true,
      checks: { signature: 'skipped', schema: 'passed', safety: 'skipped' },
    })
  })

  it('checks state, version and safety when it is told how', () => {
    const options = { agent: sampleAgent, scan: sampleScan }
    expect(validateHandoffMessage(sampleMessage({ currentState: {} }), options)).toMatchObject({
      reason: 'INCOMPLETE_CONTEXT',
    })
    expect(
      validateHandoffMessage(sampleMessage(), {
        ...options,
        agent: { ...sampleAgent, version: '1.0.0' },
      }),
    ).toMatchObject({ reason: 'SCHEMA_INVALID' })
    expect(validateHandoffMessage(sampleMessage(), options)).toMatchObject({
      valid: true,
      checks: { scan: { decision: 'allow' } },
    })
  })

  it('returns a copy that the caller cannot change afterwards', () => {
    const message = sampleMessage()
    const verdict = validateHandoffMessage(message)
    message.taskId = 'changed'
    expect(verdict.valid && verdict.message.taskId).toBe(sampleMessage().taskId)
  })

  it('reads every member once, so a getter cannot answer twice', () => {
    let reads = 0
    const message = Object.defineProperty({ ...sampleMessage() }, 'taskId', {
      enumerable: true,
      get: () => (reads++ === 0 ? sampleMessage().taskId : 'not a uuid'),
    })
    expect(validateHandoffMessage(message)).toMatchObject({
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
    expect(validateHandoffMessage(value)).toMatchObject({ valid: false, reason: 'SCHEMA_INVALID' })
  })

  it('is not fooled by inherited fields', () => {
    const message = Object.create(sampleMessage())
    expect(validateHandoffMessage(message)).toMatchObject({ reason: 'SCHEMA_INVALID' })
    expect(
      validateHandoffMessage({ ...sampleMessage(), fromAgent: Object.create({ agentId: 'a' }) }),
    ).toMatchObject({ reason: 'SCHEMA_INVALID' })
  })

  it('lists every error at once, at most fifty', () => {
    const verdict = validateHandoffMessage({ schemaVersion: '2.0' })
    expect(verdict.valid || verdict.details).toHaveLength(17)
    const turns = Array.from({ length: 1000 }, () => ({}))
    const many = validateHandoffMessage(
      sampleMessage({ conversationHistoryVerbatim: turns as never }),
    )
    expect(many.valid || many.details).toHaveLength(50)
  })

  it('never repeats a value, and cuts an absurd key', () => {
    const verdict = validateHandoffMessage({
      ...sampleMessage(),
      [`secret${'x'.repeat(200_000)}`]: 'canary',
      handoffId: 'canary',
    })
    expect(JSON.stringify(verdict.valid || verdict.details)).not.toContain('canary')
    expect(JSON.stringify(verdict.valid || verdict.details).length).toBeLessThan(5000)
  })
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
