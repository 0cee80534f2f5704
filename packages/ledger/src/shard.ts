// Which chain a task's records stand in: always the same one, so its trace has one order.
import { hash } from 'node:crypto'
import { uuidBytes } from './record-id.ts'

/** SHA-256(16 bytes of taskId) mod shards, from the first 6 bytes of the digest. */
export function shardOf(taskId: string, shards: number): number {
  return hash('sha256', uuidBytes(taskId), 'buffer').readUIntBE(0, 6) % shards
}
