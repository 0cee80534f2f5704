// The port of the SW4RM service with a certificate: nothing is said to who cannot check it, and nothing in clear.
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { ChannelCredentials } from '@grpc/grpc-js'
import { makeAuthority, makeCertificate } from '@baton/embedded'
import { createLogger, NO_TLS } from '@baton/runtime'
import type { Tls, TlsClients } from '@baton/runtime'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApiKey, identify, parseApiKeys } from '../api-keys.ts'
import type { Methods } from './calls.ts'
import { createSw4rmServer } from './server.ts'
import type { Sw4rmServer } from './server.ts'
import { METHODS } from './wire.ts'

const authority = await makeAuthority({ name: 'test authority', days: 1 })
const another = await makeAuthority({ name: 'another authority', days: 1 })
const certify = (name: string, by = authority) =>
  makeCertificate(by, { name, hosts: ['baton'], days: 1 })
const client = await certify('client')
const root = Buffer.from(authority.certificate)
const key = createApiKey({ scopes: 'handoffs:read' })
const answer = async () => ({
  accepted: true,
  handoff_id: 'x',
  rejection_reason: '',
  status: 1,
  metadata: {},
})

const nothing = async () => undefined
const logger = createLogger({
  service: 'gateway',
  level: 'error',
  destination: { write: () => {} },
})

/** As after its files were read, and again after they have changed. */
function createTestTls() {
  const followers: (() => void)[] = []
  const tls = {
    ...NO_TLS,
    onChange(listener: () => void) {
      followers.push(listener)
      return () => undefined
    },
  }
  return {
    tls,
    async replace(by = authority) {
      const { certificate, key: own } = await certify('gateway', by)
      const material = { ...NO_TLS.material, certificate, key: own }
      Object.assign(tls, { material: { ...material, authorities: [authority.certificate] } })
      for (const follow of followers) follow()
    },
  }
}

const serverWith = (tls: Tls, clients: TlsClients): Sw4rmServer =>
  createSw4rmServer({
    host: '127.0.0.1',
    port: 0,
    connections: { max: 8, perAddressMax: 8 },
    tls: { tls, clients, logger },
    bounds: {
      authenticate: (given) => identify(parseApiKeys(key.entry), given, Date.now()),
      rateMax: 100,
    },
    bounded: (work) => work(),
    refusals: { name: 'none', start: nothing, stop: nothing, refused: nothing },
    methods: { GetHandoffStatus: { scope: 'handoffs:read', answer } } as unknown as Methods,
    logger,
  })

const own = createTestTls()
let server: Sw4rmServer
let strict: Sw4rmServer
beforeAll(async () => {
  await own.replace()
  server = serverWith(own.tls, 'any')
  strict = serverWith(own.tls, 'certified')
  await server.start()
  await strict.start()
})
afterAll(async () => {
  await server.stop()
  await strict.stop()
})

function statusOver(channel: ChannelCredentials, at = server): Promise<unknown> {
  // An address is no name that TLS can ask for.
  const caller = new Client(at.address, channel, { 'grpc.ssl_target_name_override': 'baton' })
  const { path, requestSerialize, responseDeserialize } = METHODS.GetHandoffStatus
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${key.key}`)
  return new Promise((resolve) => {
    caller.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      { handoff_id: 'x' },
      metadata,
      { deadline: Date.now() + 10_000 },
      (error, answered) => {
        caller.close()
        resolve(error === null ? answered : error.code)
      },
    )
  })
}

const known = () => credentials.createSsl(root)
const ANSWERED = { accepted: true, handoff_id: 'x' }
const UNAVAILABLE = 14

it('speaks TLS to who knows its authority', async () => {
  expect(await statusOver(known())).toMatchObject(ANSWERED)
})

it('says nothing to others, or in clear', async () => {
  expect(await statusOver(credentials.createSsl())).toBe(UNAVAILABLE)
  expect(await statusOver(credentials.createInsecure())).toBe(UNAVAILABLE)
})

it('turns away who has no certificate where one is needed', async () => {
  const certified = credentials.createSsl(
    root,
    Buffer.from(client.key),
    Buffer.from(client.certificate),
  )
  expect(await statusOver(certified, strict)).toMatchObject(ANSWERED)
  expect(await statusOver(known(), strict)).toBe(UNAVAILABLE)
})

it('shows a new certificate once there is one', async () => {
  await own.replace(another)
  expect(await statusOver(known())).toBe(UNAVAILABLE)
  const root = Buffer.from(another.certificate)
  expect(await statusOver(credentials.createSsl(root))).toMatchObject(ANSWERED)
})
