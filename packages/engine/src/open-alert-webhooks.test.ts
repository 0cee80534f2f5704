// A file of webhooks is read whole or refused with the place that is wrong; no secret stands in it or in what refuses it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Logger } from '@baton/runtime'
import type { Database } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { createAlertWebhooks } from './alert-webhooks.ts'
import { loadAlertWebhooks } from './open-alert-webhooks.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-alerts-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'webhooks.json')
const ENVIRONMENT = { PAGER: 'whsec_one, whsec_two' }

function load(file: unknown, environment: Readonly<Record<string, string>> = ENVIRONMENT) {
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file))
  return loadAlertWebhooks(path, environment)
}

const pager = { name: 'pager', url: 'https://events.example/baton', secretEnv: 'PAGER' }

it('reads secrets from the environment, or from files beside it', () => {
  writeFileSync(join(folder, 'chat.secret'), 'whsec_three\n')
  const chat = {
    name: 'chat',
    url: 'http://10.0.0.7/',
    secretFile: 'chat.secret',
    allowPrivate: true,
  }
  expect(load({ webhooks: [pager, chat], runbooks: 'https://books.example' })).toEqual({
    runbooks: 'https://books.example',
    webhooks: [
      { name: 'pager', url: 'https://events.example/baton', secrets: ['whsec_one', 'whsec_two'] },
      { name: 'chat', url: 'http://10.0.0.7/', secrets: ['whsec_three'], allowPrivate: true },
    ],
  })
  expect(load({ webhooks: [pager] }).runbooks).toBe('infra/runbooks')
})

it.each([
  ['not JSON', '{', /webhooks\.json/],
  ['none', { webhooks: [] }, /\/webhooks/],
  [
    'too many',
    { webhooks: Array.from({ length: 11 }, (_, i) => ({ ...pager, name: `p${i}` })) },
    /\/webhooks/,
  ],
  ['the same name twice', { webhooks: [pager, pager] }, /\/webhooks\/1\/name/],
  ['a secret in the file', { webhooks: [{ ...pager, secret: 'whsec_x' }] }, /\/webhooks\/0/],
  ['two secrets', { webhooks: [{ ...pager, secretFile: 'x' }] }, /\/webhooks\/0/],
  ['an unknown member', { webhooks: [pager], times: 3 }, /times/],
  [
    'no such variable',
    { webhooks: [{ ...pager, secretEnv: 'NOBODY' }] },
    /\/webhooks\/0\/secretEnv: NOBODY is not set/,
  ],
  [
    'no such file',
    { webhooks: [{ name: 'a', url: pager.url, secretFile: 'nowhere' }] },
    /nowhere cannot be read/,
  ],
  [
    'a device',
    { webhooks: [{ name: 'a', url: pager.url, secretFile: '/dev/null' }] },
    /\/dev\/null is no regular file/,
  ],
])('refuses %s', (_, file, place) => {
  const refused = () => load(file)
  expect(refused).toThrow(expect.objectContaining({ code: 'BATON_ALERT_WEBHOOKS_INVALID' }))
  expect(refused).toThrow(place)
  expect(refused).not.toThrow(/whsec_/)
})

it.each([
  ['plain http', { url: 'http://10.0.0.1/x' }, 'BATON_ADDRESS_REFUSED'],
  ['a secret of another form', { secretEnv: 'PLAIN' }, 'BATON_WEBHOOK_SECRET_INVALID'],
])('names the webhook with %s', (_, wrong, code) => {
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`
  const to = load({ webhooks: [{ ...pager, ...wrong }] }, { PAGER: secret, PLAIN: 'no whsec' })
  const refused = () =>
    createAlertWebhooks({ db: {} as Database, to, metrics: createMetrics(), logger: {} as Logger })
  expect(refused).toThrow(expect.objectContaining({ code }))
  expect(refused).toThrow(/^the webhook pager: /)
  expect(refused).not.toThrow(/no whsec/)
})
