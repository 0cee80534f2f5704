// What a process without a queue server runs beside its agents: it relays for them, sweeps and reconciles by itself.
import type { AuditClient } from '@baton/audit/client'
import type { Service } from '@baton/runtime'
import { createReceiptReconciler } from './reconcile-receipts.ts'
import { createRelay } from './relay-outbox.ts'
import type { RelayParts } from './relay-outbox.ts'
import type { EventShipper } from './record-audit.ts'
import { createSweeper } from './sweep.ts'

interface OwnRelayParts extends RelayParts {
  readonly client: AuditClient
  readonly shipper: EventShipper
  /** How long a published handoff may stay unclaimed before its job is looked for; 5 s by default. */
  readonly undeliveredMs?: number
}

/** None where the transport is a server's: then relays are processes of their own. In the order in which they start. */
export const createOwnRelay = (parts: OwnRelayParts): readonly Service[] =>
  parts.transport.kind === 'in-process'
    ? [createRelay(parts), createSweeper(parts), createReceiptReconciler(parts)]
    : []
