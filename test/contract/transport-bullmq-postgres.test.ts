// BullMQ's Postgres backend, offered as experimental, keeps the transport contract.
import { createLogger } from '@baton/runtime'
import { createPool } from '@baton/store'
import { acquirePostgres, uniqueDatabaseName } from '@baton/testkit'
import {
  BULLMQ_SCHEMA,
  createBullmqPostgresTransport,
  migrateBullmqPostgres,
} from '@baton/transport'
import type { BullmqPostgresTransportOptions } from '@baton/transport'
import { beforeAll } from 'vitest'
import { describeTransport } from './transport-contract.ts'

const logger = createLogger({ service: 'test', level: 'silent' })
const { adminUrl } = await acquirePostgres()
const url = new URL(adminUrl)
url.pathname = `/${uniqueDatabaseName('bullmq')}`
url.searchParams.set('options', `-c search_path=${BULLMQ_SCHEMA}`)
type OpenPool = BullmqPostgresTransportOptions['openPool']
// The store shows less of its pool than there is; BullMQ needs the events too.
const openPool = (() =>
  createPool({ url: url.href, applicationName: 'test', connectionsMax: 8 })) as unknown as OpenPool

beforeAll(async () => {
  const admin = createPool({ url: adminUrl, applicationName: 'test', connectionsMax: 1 })
  await admin.query({ text: `create database ${url.pathname.slice(1)}` })
  await admin.end()
  const pool = openPool()
  await migrateBullmqPostgres(pool)
  await pool.end()
})

describeTransport('BullMQ on Postgres (experimental)', {
  canLose: false,
  open: async () => ({ transport: createBullmqPostgresTransport({ openPool, logger }) }),
})
