// Generated from the migrations by infra/generate-tables.ts; do not edit.
import type { Generated } from '@baton/postgres/statements'

export interface AuditTables {
  'audit.head': {
    chain: number
    origin: string
    epoch: number
    shard: number
    shards: number
    size: Generated<number>
    last_hash: Generated<Buffer>
    last_recorded_at: Generated<Date>
  }
  'audit.record': {
    chain: number
    seq: number
    recorded_at: Date
    task_id: string
    handoff_id: string
    event: number
    spent_micro: number | null
    body: Buffer
    record_hash: Buffer
  }
  'audit.idem': {
    key: string
    request_hash: Buffer
    chain: number
    seq: number
    recorded_at: Date
    record_hash: Buffer
    task_id: string
    task_seq: number
  }
  'audit.batch_sig': {
    chain: number
    last_seq: number
    first_seq: number
    last_hash: Buffer
    key_id: string
    signature: Buffer
  }
  'audit.payload': {
    chain: number
    seq: number
    segment: number
    recorded_at: Date
    subject_ref: string
    nonce: Buffer
    ciphertext: Buffer
  }
  'audit.seal': {
    seq: number
    sealed_at: Date
    body: Buffer
    note: string
  }
  'audit.chain_checkpoint': {
    chain: number
    size: number
    note: string
  }
  'audit.witnessed': {
    id: Generated<boolean>
    size: number
    note: string
    witnessed_at: Date
  }
  'audit.scrub': {
    id: Generated<boolean>
    reached: unknown
  }
  'audit.archive': {
    log: number
    size: Generated<number>
    tail: Generated<number>
    hot_from: Generated<number>
    min_index: Generated<number>
    start_hash: Generated<Buffer>
    start_at: Generated<Date>
    removed: Generated<number>
  }
  'audit.legal_hold': {
    task_id: string
    chain: number
    seq: number
    held_at: Date
    lifted_chain: number | null
    lifted_seq: number | null
  }
  'audit.tree_hash': {
    log: number
    level: number
    index: number
    hash: Buffer
  }
  'audit.erasure': {
    id: string
    state: 'PLANNED' | 'DEFERRED' | 'CONFIRMED' | 'ERASED' | 'COMPLETED'
    basis: string
    requested_by: string
    requested_at: Generated<Date>
    confirmed_by: string | null
    confirmed_at: Date | null
    completed_at: Date | null
    handoff_ids: readonly string[]
    task_ids: readonly string[]
    receipt: unknown
    signed: unknown
  }
  'audit.erased_subject': {
    subject_ref: string
    erasure_id: string
    erased_at: Generated<Date>
  }
  'audit.erased_segment': {
    chain: number
    seq: number
    segment: number
    subject_ref: string
  }
  'audit.task_map': {
    prefix: string
    seals: number
    node: Buffer
  }
  'audit.cold_watch': {
    id: Generated<boolean>
    reached: unknown
  }
  'audit.cold_fault': {
    log: number
    bundle: number
    found_at: Generated<Date>
    seq: number
    rule: string
    message: string
  }
  'audit.last_drill': {
    id: Generated<boolean>
    passed_at: Generated<Date>
  }
  'audit.seal_lease': {
    id: Generated<boolean>
    epoch: Generated<number>
    holder: Generated<string>
    witness: string | null
    taken_at: Generated<Date>
    held_until: Generated<Date>
  }
  'audit.seal_standby': {
    holder: string
    seen_at: Date
  }
  'audit.proposed_seal': {
    seq: number
    body: Buffer
    note: string
    epoch: number
  }
}

export interface VaultTables {
  'vault.subject_key': {
    subject_ref: string
    lookup: Buffer | null
    wrapped_key: Buffer
    wrapping_key_id: string
    created_at: Generated<Date>
    lookup_key_id: Generated<string>
    sealed_names: Buffer | null
  }
  'vault.subject_member': {
    subject_ref: string
    member_lookup: Buffer
    lookup_key_id: Generated<string>
  }
  'vault.erasure': {
    erasure_id: string
    lookup: Buffer
    lookup_key_id: Generated<string>
  }
  'vault.erasure_key': {
    erasure_id: string
    subject_ref: string
  }
  'vault.request_key': {
    lookup_key_id: string
    wrapped_key: Buffer
    wrapping_key_id: string
  }
}
