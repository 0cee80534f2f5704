// A peer that speaks only SW4RM's gRPC: takes what waits for it, keeps the bytes of its context, and completes it.
//   node archivist.ts 127.0.0.1:8425 bk_... context.json
import { writeFile } from 'node:fs/promises'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { MethodDefinition } from '@grpc/proto-loader'

const [address = '', key = '', file = ''] = process.argv.slice(2)
const proto = new URL('../../../services/gateway/proto/sw4rm/', import.meta.url).pathname
const service = loadSync('handoff.proto', {
  includeDirs: [proto],
  keepCase: true,
  enums: String,
  defaults: true,
})['sw4rm.handoff.HandoffService'] as Readonly<Record<string, MethodDefinition<object, object>>>

const client = new Client(address, credentials.createInsecure())
const metadata = new Metadata()
metadata.set('authorization', `Bearer ${key}`)

function call<Answer>(name: string, request: object): Promise<Answer> {
  const method = service[name]
  if (method === undefined) throw new Error(`the service has no ${name}`)
  const { path, requestSerialize, responseDeserialize } = method
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      metadata,
      (error, answer) => (error === null ? resolve(answer as Answer) : reject(error)),
    )
  })
}

interface Pending {
  readonly pending_requests: readonly {
    readonly request_id: string
    readonly from_agent: string
    readonly reason: string
    readonly context_snapshot: Uint8Array
  }[]
}

const agent_id = 'archivist'
const { pending_requests: pending } = await call<Pending>('GetPendingHandoffs', { agent_id })
for (const { request_id, from_agent, reason, context_snapshot } of pending) {
  await call('AcceptHandoff', { request_id, accepted: true, accepting_agent: agent_id })
  await writeFile(file, context_snapshot)
  await call('CompleteHandoff', { request_id, status: 'COMPLETED' })
  process.stdout.write(`archivist: kept "${reason}" of ${from_agent} (${request_id}) in ${file}\n`)
}
client.close()
