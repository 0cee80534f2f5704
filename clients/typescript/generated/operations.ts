// Generated from services/gateway/openapi.json by services/gateway/generate-client.ts; do not edit.
export type ClaimedExecutions = {
readonly "executions": readonly ({
readonly "handoffId": string
readonly "fencingToken": number
readonly "taskId": string
readonly "attempt": number
readonly "attemptsMax": number
/** Say that it is still worked on three times within it. */
readonly "leaseMs": number
readonly "leaseUntil": string
readonly "deadline": string | null
readonly "traceparent": string
readonly "tracestate": string | null
readonly "fromAgent": string
/** The same for every attempt: send it with whatever has an effect elsewhere. */
readonly "idempotencyKey": string
/** How many chunks earlier attempts have committed: emit the same again from 1, or go on with the next. */
readonly "chunks": number
/** The context for a prompt’s user turn, fenced as data: it is never instructions. */
readonly "context": string
/** The handoff: /schemas/handoff/2.1.json */
readonly "message": Readonly<Record<string, unknown>>
})[]
}

export type KeptExecutions = {
readonly "executions": readonly ({
readonly "handoffId": string
readonly "fencingToken": number
/** False: stop, nothing of it can commit any more. */
readonly "held": boolean
readonly "leaseUntil": string | null
readonly "canceledUntil": string | null
})[]
}

export type SettledExecutions = {
readonly "executions": readonly ({
readonly "handoffId": string
readonly "fencingToken": number
readonly "settled": boolean
/** It had been settled before, as `state` says. */
readonly "repeated"?: boolean
/** The state of the handoff after it. */
readonly "state"?: string
readonly "problem"?: {
readonly "code": string
readonly "detail": string
readonly "fix": string
}
})[]
}

export type Emitted = {
readonly "handoffId": string
/** The number of the last of them: they are durable. */
readonly "seq": number
}

export type StreamPage = {
readonly "handoffId": string
/** The state of the handoff. */
readonly "state": string
readonly "reason": string | null
/** How many chunks the stream has by now. */
readonly "committed": number
/** Nothing is added any more. */
readonly "ended": boolean
/** It has ended with a result, which was checked to be of exactly these chunks. */
readonly "complete": boolean
/** Its chunks were erased with the people they tell of. */
readonly "erased": boolean
readonly "chunks": readonly ({
readonly "seq": number
/** What it is, in a word of the agent’s own. */
readonly "kind": string
/** Any JSON value; the whole chunk takes at most 64 KiB. */
readonly "content": unknown
})[]
}

export type CloudEvent = {
readonly "specversion": "1.0"
/** The same at every try and in every replay. */
readonly "id": string
/** Whose it is: /tenants/ and the name of the tenant. */
readonly "source": string
readonly "type": "baton.alert.acknowledged" | "baton.alert.closed" | "baton.alert.escalated" | "baton.alert.opened" | "baton.alert.repeated" | "baton.escalation.raised" | "baton.handoff.accepted" | "baton.handoff.approval-refused" | "baton.handoff.approved" | "baton.handoff.blocked" | "baton.handoff.cancel-requested" | "baton.handoff.canceled" | "baton.handoff.completed" | "baton.handoff.dead-lettered" | "baton.handoff.discarded" | "baton.handoff.executing" | "baton.handoff.expired" | "baton.handoff.failed" | "baton.handoff.fan-out-failed" | "baton.handoff.redacted" | "baton.handoff.rejected" | "baton.handoff.release-approved" | "baton.handoff.released" | "baton.handoff.rerouted" | "baton.handoff.returned" | "baton.handoff.revised" | "baton.handoff.rolled-back" | "baton.handoff.send-refused" | "baton.handoff.sender-asked" | "baton.subscription.test" | "baton.task.resumed"
/** The task; of alerts the alert, of tests the subscription. */
readonly "subject": string
/** When it was recorded. */
readonly "time": string
readonly "datacontenttype"?: "application/json"
/** The $id of the schema of its data; /schemas lists where each is. */
readonly "dataschema": string
readonly "data": Readonly<Record<string, unknown>>
}

export type EventPage = {
readonly "events": readonly (CloudEvent)[]
/** The id to go on after, with the same filter: of the last event that was looked at; null where there was none. */
readonly "nextAfter": string | null
/** Whether there are more by now. */
readonly "isMore": boolean
}

export type Subscription = {
readonly "subscriptionId": string
/** Of the tenant’s own choice, and one subscription’s only. */
readonly "name": string
/** https, at an address of the public internet; checked at every connection. */
readonly "url": string
/** The whole event as the body (application/cloudevents+json), or its data with its attributes as ce- headers. */
readonly "mode": "structured" | "binary"
/** What is told: events that every one of these fits, in the filter dialects exact, prefix, suffix, all, any and not of the CloudEvents Subscriptions API, over attributes of events (type, subject, fromagent, toagent, reason, handoffid, severity and others). At most 64 expressions and values in all, 6 deep; [] tells everything. */
readonly "filters": readonly (Readonly<Record<string, unknown>>)[]
/** Nothing is sent while it is paused or disabled; what happens meanwhile waits as long as events are kept. */
readonly "state": "active" | "paused" | "disabled"
/** Why it was disabled: HTTP_410, EVENTS_FORGOTTEN. */
readonly "reason": string | null
/** Tries in a row that its consumer did not take. */
readonly "failures": number
/** When it is looked next whether its consumer is back; null where it is not away. */
readonly "nextAt": string | null
/** How many events its consumer took. */
readonly "delivered": number
readonly "deliveredAt": string | null
readonly "failedAt": string | null
/** A code, of the newest try that failed. */
readonly "lastError": string | null
/** Until then the secret of before signs beside the newest. */
readonly "earlierSecretUntil": string | null
/** Events that are tried again. */
readonly "waiting": number
/** Events that were given up. */
readonly "deadLetters": number
readonly "madeBy": string
readonly "createdAt": string
readonly "changedAt": string
readonly "links": {
readonly "self": string
readonly "deliveries": string
}
}

export type SubscriptionWithSecret = {
readonly "subscriptionId": string
/** Of the tenant’s own choice, and one subscription’s only. */
readonly "name": string
/** https, at an address of the public internet; checked at every connection. */
readonly "url": string
/** The whole event as the body (application/cloudevents+json), or its data with its attributes as ce- headers. */
readonly "mode": "structured" | "binary"
/** What is told: events that every one of these fits, in the filter dialects exact, prefix, suffix, all, any and not of the CloudEvents Subscriptions API, over attributes of events (type, subject, fromagent, toagent, reason, handoffid, severity and others). At most 64 expressions and values in all, 6 deep; [] tells everything. */
readonly "filters": readonly (Readonly<Record<string, unknown>>)[]
/** Nothing is sent while it is paused or disabled; what happens meanwhile waits as long as events are kept. */
readonly "state": "active" | "paused" | "disabled"
/** Why it was disabled: HTTP_410, EVENTS_FORGOTTEN. */
readonly "reason": string | null
/** Tries in a row that its consumer did not take. */
readonly "failures": number
/** When it is looked next whether its consumer is back; null where it is not away. */
readonly "nextAt": string | null
/** How many events its consumer took. */
readonly "delivered": number
readonly "deliveredAt": string | null
readonly "failedAt": string | null
/** A code, of the newest try that failed. */
readonly "lastError": string | null
/** Until then the secret of before signs beside the newest. */
readonly "earlierSecretUntil": string | null
/** Events that are tried again. */
readonly "waiting": number
/** Events that were given up. */
readonly "deadLetters": number
readonly "madeBy": string
readonly "createdAt": string
readonly "changedAt": string
readonly "links": {
readonly "self": string
readonly "deliveries": string
}
/** Shown this once; null in a repetition after a day or after a change. */
readonly "secret": string | null
}

export type Subscriptions = {
readonly "subscriptions": readonly (Subscription)[]
/** For the next page; null where this is the last. */
readonly "nextCursor": string | null
/** How many there are in all; counted to 10000. */
readonly "total": number
/** False where there are more than `total`. */
readonly "totalIsExact": boolean
}

export type EventDeliveries = {
readonly "deliveries": readonly ({
readonly "eventId": string
readonly "state": "waiting" | "delivered" | "dead"
readonly "attempts": number
readonly "firstAt": string
/** When it is tried again. */
readonly "nextAt": string | null
readonly "endedAt": string | null
readonly "lastError": string | null
/** The event; null where it is not kept any more. */
readonly "event": Readonly<Record<string, unknown>> | null
})[]
/** For the next page; null where this is the last. */
readonly "nextCursor": string | null
/** How many there are in all; counted to 10000. */
readonly "total": number
/** False where there are more than `total`. */
readonly "totalIsExact": boolean
}

export type DeletedSubscription = {
readonly "subscriptionId": string
readonly "deleted": true
}

export type SubscriptionTest = {
/** Of the event that is told; look for it at the consumer. */
readonly "eventId": string
}

export type RedrivenEvents = {
/** How many are tried again. */
readonly "redriven": number
}

export type Sent = {
readonly "handoffId": string
readonly "taskId": string
/** Place of the handoff in its task, from 1. */
readonly "taskSeq": number
readonly "traceparent": string
/** Of several receivers: the copy for each, in their order; handoffId is that for the target. */
readonly "branches"?: readonly ({
readonly "branch"?: string
readonly "handoffId"?: string
readonly "toAgent"?: string
})[]
/** Only with mode=sync: as in Delivered. */
readonly "deliveredBy"?: string | null
readonly "handoff"?: Handoff
}

export type Delivered = {
readonly "handoffId": string
readonly "taskId": string
/** Place of the handoff in its task, from 1. */
readonly "taskSeq": number
readonly "traceparent": string
/** Of several receivers: the copy for each, in their order; handoffId is that for the target. */
readonly "branches"?: readonly ({
readonly "branch"?: string
readonly "handoffId"?: string
readonly "toAgent"?: string
})[]
/** Whether the call over HTTP brought it to its receiver, or the queue did or will; null where an earlier request had sent it. */
readonly "deliveredBy": "http" | "queue" | null
readonly "handoff": Handoff
}

export type Receipt = {
/** The chain of the audit log. */
readonly "origin": string
/** Position in the chain, from 0. */
readonly "seq": number
/** SHA-256 of the record, in hexadecimal. */
readonly "recordHash": string
}

export type Handoff = {
/** 1 as it was first sent; one more with every correction. */
readonly "revision"?: number
/** The rolled-back or expired handoff that it takes up again. */
readonly "resumesHandoffId"?: string | null
/** The agent type that gets it instead, after it was blocked at toAgent. */
readonly "routedTo"?: string | null
/** Null where it was never held for a person. */
readonly "approval"?: {
/** Null where nobody has decided. */
readonly "decision"?: "approve" | "reject" | null
readonly "decidedBy"?: string | null
} | null
/** Digest of the signed bytes in hex: what an approval is about. */
readonly "sha256"?: string
readonly "cancelRequested"?: boolean
/** Until when a result still counts although it is being canceled. */
readonly "cancelGraceUntil"?: string | null
readonly "handoffId"?: string
readonly "taskId"?: string
readonly "taskSeq"?: number
readonly "parentHandoffId"?: string | null
readonly "fromAgent"?: string
readonly "toAgent"?: string
readonly "state"?: "QUEUED" | "AWAITING_APPROVAL" | "DISPATCHED" | "EXECUTING" | "COMPLETED" | "PARTIAL" | "REJECTED" | "BLOCKED" | "EXPIRED" | "CANCELED" | "DEAD_LETTERED" | "ROLLED_BACK"
readonly "reason"?: string | null
/** What was wrong, where, and how to mend it. */
readonly "details"?: unknown
readonly "attempt"?: number
readonly "attemptsMax"?: number
readonly "priority"?: number
readonly "traceparent"?: string
/** US dollars. */
readonly "spentUSD"?: number
/** US dollars. */
readonly "remainingUSD"?: number
readonly "costUSD"?: number | null
/** What the agent answered. */
readonly "result"?: unknown
readonly "createdAt"?: string
readonly "acceptedAt"?: string | null
readonly "endedAt"?: string | null
readonly "expiresAt"?: string | null
/** Every time it was handed back to its sender; only where one handoff is read. */
readonly "returns"?: readonly (Readonly<Record<string, unknown>>)[]
/** Null on the task’s own way. */
readonly "branch"?: {
readonly "branchId"?: string
/** By the names of the branches it stands in, the outermost first. */
readonly "name"?: string
/** Null while something of it goes on, or waits for a person to take it up again or cancel it. */
readonly "outcome"?: string | null
} | null
readonly "links"?: Readonly<Record<string, unknown>>
}

export type JoinedBranch = {
readonly "branch"?: string
/** COMPLETED, or how it ended without a result. */
readonly "outcome"?: string
readonly "reason"?: string | null
/** Its last handoff. */
readonly "handoffId"?: string | null
/** Null where nothing came out of it. */
readonly "result"?: unknown
}

export type Notice = {
readonly "noticeId"?: string
readonly "kind"?: "return" | "rollback"
readonly "handoffId"?: string
readonly "taskId"?: string
readonly "fromAgent"?: string
readonly "toAgent"?: string
/** The attempt that failed, from 1. */
readonly "attempt"?: number
readonly "attemptsMax"?: number
/** The revision that was refused; a correction is the next one. */
readonly "revision"?: number
readonly "reason"?: string
/** What was wrong, at which JSON pointer of the message, and how to mend it. */
readonly "details"?: unknown
readonly "traceparent"?: string
/** The message as it was refused. */
readonly "message"?: Readonly<Record<string, unknown>>
readonly "checkpointSha256"?: string
/** Until then nobody else is told. */
readonly "leaseUntil"?: string
/** When it is tried again unless it is corrected before. */
readonly "retryAt"?: string | null
readonly "links"?: Readonly<Record<string, unknown>>
}

export type Notices = {
readonly "notices"?: readonly (Notice)[]
}

export type Acknowledged = {
readonly "noticeId"?: string
readonly "acknowledged"?: true
}

export type Revised = {
readonly "handoffId"?: string
readonly "revision"?: number
readonly "state"?: string
/** True where the same correction had been taken before. */
readonly "repeated"?: boolean
}

export type Resumed = {
readonly "handoffId"?: string
readonly "taskId"?: string
readonly "taskSeq"?: number
readonly "state"?: string
readonly "traceparent"?: string
/** True where it had been resumed before; the answer is that handoff. */
readonly "repeated"?: boolean
}

export type Task = {
readonly "taskId"?: string
readonly "status"?: string
/** US dollars. */
readonly "budgetUSD"?: number
/** US dollars. */
readonly "spentUSD"?: number
readonly "failedHandoffs"?: number
/** How many there are. */
readonly "handoffs"?: number
readonly "checkpointId"?: string | null
/** The final outcome. */
readonly "result"?: unknown
readonly "createdAt"?: string
readonly "updatedAt"?: string
readonly "links"?: Readonly<Record<string, unknown>>
}

export type TaskWithHandoffs = {
readonly "task"?: Task
readonly "handoffs"?: readonly (Handoff)[]
}

export type TaskTrace = {
readonly "task"?: Task | null
readonly "handoffs"?: readonly (Handoff)[]
/** The auditor's answer: records in their order, gaps, findings, cost. */
readonly "audit"?: {
readonly "records": readonly ({
/** Recomputed from the stored bytes. */
readonly "recordHash": string
/** How well it is kept; each includes the ones before it: durable, signed, seen outside the database, copied to the cold store. */
readonly "assurance": "committed" | "sealed" | "witnessed" | "archived"
/** Whether the database still has it, or the cold store alone. */
readonly "tier": "hot" | "cold"
/** The decision record. */
readonly "body": Readonly<Record<string, unknown>>
})[]
/** Nothing missing, nothing changed, every accepted handoff has its decision, and every stream its recorded chunks. */
readonly "verified": boolean
/** What signed maps of tasks say of the end of the task, the strongest proof first; empty where none does yet. */
readonly "ends"?: readonly ({
readonly "proof": "sealed" | "witnessed"
/** Nothing was missing at the end until then. */
readonly "until": string
/** How many it had. */
readonly "records": number
})[]
/** By whose word something of it was seen outside: `database` is the word of whoever owns it, where the auditor knows neither policy nor anchor file. */
readonly "seenBy"?: "witnesses" | "anchor file" | "database" | null
/** It is proven that the log never had a record of it. */
readonly "isAbsent"?: boolean
/** Handoffs that were accepted although the log has no such decision; each is an alarm. */
readonly "unrecorded": readonly (string)[]
/** Handoffs whose chunks are not those that their record of completion names; each is an alarm. */
readonly "alteredStreams"?: readonly (string)[]
/** Handoffs whose decision was recorded and has expired since; nothing is wrong with that. */
readonly "expiredHandoffs"?: readonly (string)[]
}
}

export type DeadLetter = {
readonly "handoffId"?: string
readonly "taskId"?: string
readonly "fromAgent"?: string
readonly "toAgent"?: string
readonly "reason"?: string
readonly "details"?: unknown
readonly "createdAt"?: string
readonly "resolvedAt"?: string | null
/** The name of its branch. */
readonly "branch"?: string | null
readonly "links"?: Readonly<Record<string, unknown>>
}

export type ReleasedDeadLetter = unknown

export type DeadLetterCase = unknown

export type DeadLetterCluster = {
readonly "cluster"?: string
readonly "reason"?: string
readonly "count"?: number
readonly "oldestAt"?: string
readonly "newestAt"?: string
readonly "exampleId"?: string
}

export type ReviewOutcome = {
readonly "handoffId"?: string
readonly "outcome"?: "waiting" | "decided" | "asked"
readonly "reviewers"?: readonly (string)[]
readonly "needed"?: number
readonly "proposal"?: string
readonly "resolution"?: string
readonly "repeated"?: boolean
readonly "links"?: Readonly<Record<string, unknown>>
}

export type DryRunResult = {
readonly "scanner"?: string
/** How many were meant; of a cluster, the oldest are judged. */
readonly "total"?: number
readonly "totalIsExact"?: boolean
readonly "wouldPass"?: number
readonly "letters"?: readonly ({
readonly "handoffId"?: string
readonly "wouldPass"?: boolean
readonly "reason"?: string | null
readonly "details"?: readonly (Readonly<Record<string, unknown>>)[]
/** Versions of the receiving agent that are live, or unknown */
readonly "agents"?: unknown
})[]
readonly "notWaiting"?: readonly (string)[]
}

export type Redrive = {
readonly "redriveId"?: string
readonly "state"?: "CANARY" | "RUNNING" | "DONE" | "STOPPED" | "CANCELED"
readonly "cluster"?: string | null
readonly "createdBy"?: string
readonly "stoppedBy"?: string | null
readonly "why"?: Readonly<Record<string, unknown>> | null
readonly "ratePerSecond"?: number
readonly "canaryIds"?: readonly (string)[]
readonly "waiting"?: number
readonly "driven"?: number
readonly "skipped"?: number
readonly "completed"?: number
readonly "taken"?: number
readonly "leftOut"?: readonly ({
readonly "handoffId"?: string
readonly "reason"?: string
})[]
readonly "createdAt"?: string
readonly "endedAt"?: string | null
readonly "links"?: Readonly<Record<string, unknown>>
}

export type Approval = {
readonly "handoffId"?: string
readonly "taskId"?: string
readonly "fromAgent"?: string
readonly "toAgent"?: string
/** The operator whose key sent it */
readonly "sentBy"?: string | null
readonly "priority"?: number
readonly "requestedAt"?: string
readonly "expiresAt"?: string | null
/** Digest of the signed bytes in hex: what is approved. */
readonly "sha256"?: string
/** The name of its branch. */
readonly "branch"?: string | null
readonly "links"?: Readonly<Record<string, unknown>>
}

export type DecidedApproval = {
readonly "handoffId"?: string
readonly "taskId"?: string
readonly "decision"?: "approve" | "reject"
/** The operator of the key that decided */
readonly "decidedBy"?: string
readonly "reasonCode"?: string | null
readonly "decidedAt"?: string
readonly "state"?: string
readonly "repeated"?: boolean
readonly "links"?: Readonly<Record<string, unknown>>
}

export type Cancellation = {
/** Handoffs that this request ended */
readonly "ended"?: readonly (string)[]
/** Handoffs that still execute: a result before graceUntil counts, then they end CANCELED */
readonly "stopping"?: readonly ({
readonly "handoffId"?: string
readonly "graceUntil"?: string
})[]
readonly "taskId"?: string
readonly "taskStatus"?: string
readonly "repeated"?: boolean
}

export type Agent = {
readonly "type"?: string
readonly "versions"?: readonly (string)[]
readonly "requires"?: readonly (string)[]
/** What every live worker of this type can do */
readonly "capabilities"?: readonly (string)[]
/** MCP servers that every live worker of this type can reach */
readonly "mcp"?: readonly (string)[]
readonly "workers"?: number
readonly "seenAt"?: string
}

export type ServiceLevels = {
readonly "at": string
/** Since when handoffs are counted; null before the first. */
readonly "since": string | null
readonly "periodDays": number
readonly "trafficMin": number
readonly "objectives": readonly ({
readonly "id": string
readonly "transport": "http" | "queue" | "temporal"
readonly "withinMs": number
/** So many of all handoffs must be accepted within it. */
readonly "share": number
/** burning: an alarm of the fast or slow burn holds now. exhausted: nothing is left of the budget. too_little_traffic: fewer than trafficMin handoffs in the period, so nothing is said. */
readonly "state": "met" | "burning" | "exhausted" | "too_little_traffic"
/** Accepted in the period. */
readonly "handoffs": number
readonly "inTime": number
/** The share that was in time; null where nothing came. */
readonly "attained": number | null
/** 1 is all of it, 0 none; below 0 it is overdrawn. */
readonly "errorBudgetLeft": number | null
/** How many times too fast the budget is spent, by window, the shortest first. */
readonly "burn": readonly ({
readonly "seconds": number
readonly "handoffs": number
readonly "rate": number | null
})[]
/** The share in time in each of the last 24 hours, the newest last. */
readonly "hours": readonly (number | null)[]
})[]
/** At most 100: those with the least budget left first, those with too little traffic last. */
readonly "pairs": readonly ({
readonly "transport": string
readonly "fromAgent": string
readonly "toAgent": string
readonly "withinMs": number
/** So many of all handoffs must be accepted within it. */
readonly "share": number
/** burning: an alarm of the fast or slow burn holds now. exhausted: nothing is left of the budget. too_little_traffic: fewer than trafficMin handoffs in the period, so nothing is said. */
readonly "state": "met" | "burning" | "exhausted" | "too_little_traffic"
/** Accepted in the period. */
readonly "handoffs": number
readonly "inTime": number
/** The share that was in time; null where nothing came. */
readonly "attained": number | null
/** 1 is all of it, 0 none; below 0 it is overdrawn. */
readonly "errorBudgetLeft": number | null
/** How many times too fast the budget is spent, by window, the shortest first. */
readonly "burn": readonly ({
readonly "seconds": number
readonly "handoffs": number
readonly "rate": number | null
})[]
/** Over the minute under way and the one before. */
readonly "perSecond": number
/** Of the last five minutes, interpolated within buckets. */
readonly "p50Ms": number | null
readonly "p99Ms": number | null
})[]
readonly "pairsLeftOut": number
readonly "rates": readonly ({
readonly "id": string
readonly "title": string
readonly "limit": number | null
/** over: above its limit in both windows. */
readonly "state": "within" | "over" | "too_little_traffic" | "no_limit"
readonly "windows": readonly ({
readonly "seconds": number
readonly "part": number
readonly "whole": number
readonly "share": number | null
})[]
})[]
readonly "recent": {
readonly "sent": {
/** Over the minute under way and the one before. */
readonly "perSecond": number
/** Of the last five minutes, interpolated within buckets. */
readonly "p50Ms": number | null
readonly "p99Ms": number | null
}
readonly "accepted": {
/** Over the minute under way and the one before. */
readonly "perSecond": number
/** Of the last five minutes, interpolated within buckets. */
readonly "p50Ms": number | null
readonly "p99Ms": number | null
}
readonly "refused": {
/** Over the minute under way and the one before. */
readonly "perSecond": number
/** Of the last five minutes, interpolated within buckets. */
readonly "p50Ms": number | null
readonly "p99Ms": number | null
}
readonly "rolledBack": {
/** Over the minute under way and the one before. */
readonly "perSecond": number
/** Of the last five minutes, interpolated within buckets. */
readonly "p50Ms": number | null
readonly "p99Ms": number | null
}
}
/** What waits for a person. */
readonly "waiting": {
readonly "deadLetters": number
readonly "deadLetterOldestAgeSeconds": number
readonly "approvals": number
readonly "escalations": number
readonly "alerts": number
}
readonly "outbox": {
readonly "depth": number
readonly "oldestAgeSeconds": number
}
/** What was published and not yet claimed, by agent type. */
readonly "queues": readonly ({
readonly "agent": string
readonly "depth": number
readonly "oldestAgeSeconds": number
})[]
}

export type Readiness = {
readonly "status"?: "ready" | "not ready"
readonly "checks"?: {
readonly "database"?: boolean
readonly "audit"?: boolean
}
}

export type Problem = {
/** urn:baton:problem:<code> */
readonly "type": string
readonly "title": string
readonly "status": number
readonly "detail": string
readonly "code": string
readonly "fix": string
readonly "pointer"?: string
/** The parameter of path or query that is meant. */
readonly "parameter"?: string
readonly "errors"?: readonly ({
readonly "pointer"?: string
readonly "rule"?: string
readonly "detail"?: string
readonly "fix"?: string
readonly "expected"?: string
})[]
/** Finds the request in logs and traces. */
readonly "traceId"?: string
}

export type Alert = {
readonly "alertId": string
/** What it is of, such as handoff.rolled_back; there may be more kinds. */
readonly "kind": string
readonly "severity": "page" | "ticket"
/** A code: of handoffs that were refused, why. */
readonly "reason": string
/** What it is about, by names: fromAgent, toAgent, transport. */
readonly "subject": Readonly<Record<string, string>>
readonly "state": "open" | "acknowledged" | "closed"
/** How often it came. */
readonly "occurrences": number
/** How many of them left a task waiting for a person. */
readonly "escalations": number
/** The newest of its handoffs, at most 20. */
readonly "handoffIds": readonly (string)[]
readonly "firstAt": string
readonly "lastAt": string
readonly "openedAt": string
readonly "acknowledgedAt": string | null
readonly "acknowledgedBy": string | null
readonly "closedAt": string | null
/** Null where it closed by itself. */
readonly "closedBy": string | null
readonly "closedWhy": string | null
readonly "links": {
readonly "self": string
}
}

export type AlertWithHistory = {
readonly "alertId": string
/** What it is of, such as handoff.rolled_back; there may be more kinds. */
readonly "kind": string
readonly "severity": "page" | "ticket"
/** A code: of handoffs that were refused, why. */
readonly "reason": string
/** What it is about, by names: fromAgent, toAgent, transport. */
readonly "subject": Readonly<Record<string, string>>
readonly "state": "open" | "acknowledged" | "closed"
/** How often it came. */
readonly "occurrences": number
/** How many of them left a task waiting for a person. */
readonly "escalations": number
/** The newest of its handoffs, at most 20. */
readonly "handoffIds": readonly (string)[]
readonly "firstAt": string
readonly "lastAt": string
readonly "openedAt": string
readonly "acknowledgedAt": string | null
readonly "acknowledgedBy": string | null
readonly "closedAt": string | null
/** Null where it closed by itself. */
readonly "closedBy": string | null
readonly "closedWhy": string | null
readonly "links": {
readonly "self": string
}
/** The newest 100 changes, oldest first. */
readonly "history": readonly ({
readonly "change": "opened" | "escalated" | "repeated" | "acknowledged" | "closed"
readonly "at": string
/** How often it had come by then. */
readonly "occurrences": number
/** Null where nobody did it. */
readonly "actor": string | null
readonly "why": string | null
})[]
}

export type HandledAlert = {
readonly "alertId": string
/** What it is of, such as handoff.rolled_back; there may be more kinds. */
readonly "kind": string
readonly "severity": "page" | "ticket"
/** A code: of handoffs that were refused, why. */
readonly "reason": string
/** What it is about, by names: fromAgent, toAgent, transport. */
readonly "subject": Readonly<Record<string, string>>
readonly "state": "open" | "acknowledged" | "closed"
/** How often it came. */
readonly "occurrences": number
/** How many of them left a task waiting for a person. */
readonly "escalations": number
/** The newest of its handoffs, at most 20. */
readonly "handoffIds": readonly (string)[]
readonly "firstAt": string
readonly "lastAt": string
readonly "openedAt": string
readonly "acknowledgedAt": string | null
readonly "acknowledgedBy": string | null
readonly "closedAt": string | null
/** Null where it closed by itself. */
readonly "closedBy": string | null
readonly "closedWhy": string | null
readonly "links": {
readonly "self": string
}
/** True where it had been done before. */
readonly "repeated": boolean
}

export type Alerts = {
readonly "alerts": readonly (Alert)[]
/** For the next page; null where this is the last. */
readonly "nextCursor": string | null
/** How many there are in all; counted to 10000. */
readonly "total": number
/** False where there are more than `total`. */
readonly "totalIsExact": boolean
}

export type Escalation = {
/** Of the handoff that came to nothing; its escalation goes by this id. */
readonly "handoffId": string
readonly "taskId": string
readonly "attempts": number
readonly "reason": string
readonly "state": "open" | "acknowledged" | "resolved"
readonly "createdAt": string
readonly "acknowledgedAt": string | null
readonly "acknowledgedBy": string | null
readonly "resolvedAt": string | null
/** Null where its task went on or was canceled. */
readonly "resolvedBy": string | null
readonly "resolvedWhy": string | null
readonly "links": {
readonly "self": string
readonly "handoff": string
readonly "task": string
}
}

export type HandledEscalation = {
/** Of the handoff that came to nothing; its escalation goes by this id. */
readonly "handoffId": string
readonly "taskId": string
readonly "attempts": number
readonly "reason": string
readonly "state": "open" | "acknowledged" | "resolved"
readonly "createdAt": string
readonly "acknowledgedAt": string | null
readonly "acknowledgedBy": string | null
readonly "resolvedAt": string | null
/** Null where its task went on or was canceled. */
readonly "resolvedBy": string | null
readonly "resolvedWhy": string | null
readonly "links": {
readonly "self": string
readonly "handoff": string
readonly "task": string
}
/** True where it had been done before. */
readonly "repeated": boolean
}

export type Escalations = {
readonly "escalations": readonly (Escalation)[]
/** For the next page; null where this is the last. */
readonly "nextCursor": string | null
/** How many there are in all; counted to 10000. */
readonly "total": number
/** False where there are more than `total`. */
readonly "totalIsExact": boolean
}

export type HandledMany = {
/** How many were meant. */
readonly "matching": number
/** How many of them were handled; 0 in a dry run. */
readonly "handled": number
/** How many are left: say it again. */
readonly "left": number
}

export type AlertWebhookTest = {
readonly "testId": string
/** False until a process that delivers has taken it up. */
readonly "isPlanned": boolean
readonly "webhooks": readonly ({
/** Its name. */
readonly "webhook": string
readonly "state": "waiting" | "delivered" | "failed"
readonly "attempts": number
/** A code. */
readonly "lastError": string | null
})[]
}

export type HandoffsApiMessage = {
readonly "id": string
readonly "fromProfileId": string
readonly "toProfileId": string
/** The sourceTaskId as it was given; without one, the task it began. */
readonly "taskId": string
/** Baton's task, once an agent has accepted. */
readonly "targetTaskId": string | null
readonly "subject": string
readonly "body": string
/** JSON text: `{"result"}` of what is completed, with `partial` and `remaining` where some is left; `{"error"}` of what failed or was refused. */
readonly "attachments": string | null
readonly "priority": number
readonly "status": "pending" | "accepted" | "in_progress" | "completed" | "rejected" | "expired"
readonly "requiresApproval": boolean
/** The name that was given. Whose key decided stands in the audit log. */
readonly "approvedBy": string | null
readonly "parentMessageId": string | null
readonly "chainDepth": number
readonly "createdAt": string
readonly "respondedAt": string | null
readonly "expiresAt": string | null
}

export type HandoffsApiProblem = {
/** What is wrong, as other servers of this API say it. */
readonly "error": string
readonly "type": string
readonly "title": string
readonly "status": number
readonly "detail": string
readonly "code": string
readonly "fix": string
readonly "pointer"?: string
readonly "parameter"?: string
readonly "errors"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "traceId"?: string
}

export type StateSubmission = {
/** Without taskDescription, completedSubtasks and parentHandoffId it is the first handoff of a task: the message says INITIAL, and what is to be done stands in currentState. */
readonly "agentState": {
readonly "taskId": string
readonly "handoffId"?: string
readonly "parentHandoffId"?: string | null
readonly "timestamp"?: string
readonly "agent": {
readonly "agentId": string
readonly "agentVersion": string
readonly "executionId"?: string
}
readonly "taskDescription"?: string
readonly "completedSubtasks"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "remainingSubtasks"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "currentState": Readonly<Record<string, unknown>>
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "conversationHistory"?: readonly ({
readonly "role": string
readonly "content": string
})[]
readonly "conversationHistorySummary"?: string
readonly "toolCallHistory"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "cost": {
readonly "spentSoFarUSD": number
readonly "budgetRemainingUSD": number
readonly "ownCostUSD": number
readonly "tokenSpent": {
readonly "prompt": number
readonly "completion": number
}
}
readonly "traceparent"?: string
readonly "tracestate"?: string
readonly "personalData"?: {
readonly "dataSubjects": readonly (string)[]
readonly "payload": Readonly<Record<string, unknown>>
}
readonly "dataClassification"?: string
readonly "residency"?: Readonly<Record<string, unknown>>
readonly "stream"?: Readonly<Record<string, unknown>>
readonly "contextSnapshot"?: Readonly<Record<string, unknown>>
readonly "externalRef"?: Readonly<Record<string, unknown>>
readonly "delegation"?: Readonly<Record<string, unknown>>
readonly "extensions"?: Readonly<Record<string, unknown>>
}
readonly "targetAgentType": string
readonly "constraints"?: {
readonly "list"?: readonly (string)[]
readonly "agentVersion"?: string
readonly "priority"?: number
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requiresApproval"?: boolean
readonly "tokenBudget"?: number
readonly "replySchema"?: string
readonly "replySchemaRef"?: string
readonly "requirements"?: Readonly<Record<string, unknown>>
/** Each gets a full copy as a branch of its own; the target is one of them. */
readonly "receiverList"?: readonly (Readonly<Record<string, unknown>>)[]
/** What waits for those branches. */
readonly "join"?: {
readonly "to": string
readonly "agentVersion"?: string
readonly "taskDescription": string
readonly "remainingSubtasks"?: readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
readonly "constraints"?: readonly (string)[]
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "priority"?: number
readonly "budgetUSD"?: number
readonly "requiresApproval"?: boolean
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requirements"?: {
readonly "mcp"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
}
readonly "tokenBudget"?: number
readonly "replySchema"?: "prose" | "structured" | "json"
readonly "replySchemaRef"?: string
/** As sensitive as before, or more. */
readonly "dataClassification"?: "public" | "internal" | "confidential" | "restricted"
readonly "residency"?: {
readonly "jurisdiction": string
readonly "transferMechanism": "none" | "adequacy" | "scc" | "bcr" | "derogation"
}
readonly "externalRef"?: {
readonly "protocol": string
readonly "id": string
}
/** Private fields; those of the message that are not named here carry over. */
readonly "extensions"?: Readonly<Record<string, unknown>>
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
/** How many branches must have completed; the others are canceled then. */
readonly "waitFor"?: "all" | "any" | number
readonly "onFailure"?: "wait" | "skip" | "fail"
}
readonly "schemaVersion"?: "2.0" | "2.1" | "2.2"
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
}
}

export type MessageSubmission = {
/** A handoff message: /schemas/handoff/2.1.json */
readonly "message": Readonly<Record<string, unknown>>
/** The state of the sender, handed back byte for byte after a rollback. */
readonly "checkpoint": Readonly<Record<string, unknown>>
/** What the sender spent since its own handoff was settled; added to the task. */
readonly "ownCostUSD"?: number
/** What waits for the branches of the message's receiverList. */
readonly "join"?: {
readonly "to": string
readonly "agentVersion"?: string
readonly "taskDescription": string
readonly "remainingSubtasks"?: readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
readonly "constraints"?: readonly (string)[]
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "priority"?: number
readonly "budgetUSD"?: number
readonly "requiresApproval"?: boolean
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requirements"?: {
readonly "mcp"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
}
readonly "tokenBudget"?: number
readonly "replySchema"?: "prose" | "structured" | "json"
readonly "replySchemaRef"?: string
/** As sensitive as before, or more. */
readonly "dataClassification"?: "public" | "internal" | "confidential" | "restricted"
readonly "residency"?: {
readonly "jurisdiction": string
readonly "transferMechanism": "none" | "adequacy" | "scc" | "bcr" | "derogation"
}
readonly "externalRef"?: {
readonly "protocol": string
readonly "id": string
}
/** Private fields; those of the message that are not named here carry over. */
readonly "extensions"?: Readonly<Record<string, unknown>>
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
/** How many branches must have completed; the others are canceled then. */
readonly "waitFor"?: "all" | "any" | number
readonly "onFailure"?: "wait" | "skip" | "fail"
}
}

export type TakeRequest = {
/** The agentIds this program sends as. */
readonly "agents": readonly (string)[]
readonly "kinds"?: readonly ("return" | "rollback")[]
readonly "limit"?: number
}

export type StateRevision = {
/** The revision that this correction shall be: the one that was returned, plus one. */
readonly "revision": number
readonly "agentState": {
readonly "taskId": string
readonly "handoffId"?: string
readonly "parentHandoffId"?: string | null
readonly "timestamp"?: string
readonly "agent": {
readonly "agentId": string
readonly "agentVersion": string
readonly "executionId"?: string
}
readonly "taskDescription": string
readonly "completedSubtasks": readonly (Readonly<Record<string, unknown>>)[]
readonly "remainingSubtasks": readonly (Readonly<Record<string, unknown>>)[]
readonly "currentState": Readonly<Record<string, unknown>>
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "conversationHistory"?: readonly ({
readonly "role": string
readonly "content": string
})[]
readonly "conversationHistorySummary"?: string
readonly "toolCallHistory"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "cost": {
readonly "spentSoFarUSD": number
readonly "budgetRemainingUSD": number
readonly "ownCostUSD": number
readonly "tokenSpent": {
readonly "prompt": number
readonly "completion": number
}
}
readonly "traceparent"?: string
readonly "tracestate"?: string
readonly "personalData"?: {
readonly "dataSubjects": readonly (string)[]
readonly "payload": Readonly<Record<string, unknown>>
}
readonly "dataClassification"?: string
readonly "residency"?: Readonly<Record<string, unknown>>
readonly "stream"?: Readonly<Record<string, unknown>>
readonly "contextSnapshot"?: Readonly<Record<string, unknown>>
readonly "externalRef"?: Readonly<Record<string, unknown>>
readonly "delegation"?: Readonly<Record<string, unknown>>
readonly "extensions"?: Readonly<Record<string, unknown>>
}
readonly "constraints"?: {
readonly "list"?: readonly (string)[]
readonly "agentVersion"?: string
readonly "priority"?: number
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requiresApproval"?: boolean
readonly "tokenBudget"?: number
readonly "replySchema"?: string
readonly "replySchemaRef"?: string
readonly "requirements"?: Readonly<Record<string, unknown>>
/** Each gets a full copy as a branch of its own; the target is one of them. */
readonly "receiverList"?: readonly (Readonly<Record<string, unknown>>)[]
/** What waits for those branches. */
readonly "join"?: {
readonly "to": string
readonly "agentVersion"?: string
readonly "taskDescription": string
readonly "remainingSubtasks"?: readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
readonly "constraints"?: readonly (string)[]
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "priority"?: number
readonly "budgetUSD"?: number
readonly "requiresApproval"?: boolean
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requirements"?: {
readonly "mcp"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
}
readonly "tokenBudget"?: number
readonly "replySchema"?: "prose" | "structured" | "json"
readonly "replySchemaRef"?: string
/** As sensitive as before, or more. */
readonly "dataClassification"?: "public" | "internal" | "confidential" | "restricted"
readonly "residency"?: {
readonly "jurisdiction": string
readonly "transferMechanism": "none" | "adequacy" | "scc" | "bcr" | "derogation"
}
readonly "externalRef"?: {
readonly "protocol": string
readonly "id": string
}
/** Private fields; those of the message that are not named here carry over. */
readonly "extensions"?: Readonly<Record<string, unknown>>
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
/** How many branches must have completed; the others are canceled then. */
readonly "waitFor"?: "all" | "any" | number
readonly "onFailure"?: "wait" | "skip" | "fail"
}
readonly "schemaVersion"?: "2.0" | "2.1" | "2.2"
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
}
}

export type MessageRevision = {
/** The revision that this correction shall be: the one that was returned, plus one. */
readonly "revision": number
/** A handoff message: /schemas/handoff/2.1.json */
readonly "message": Readonly<Record<string, unknown>>
readonly "checkpoint"?: Readonly<Record<string, unknown>>
}

export type ResumeRequest = {
/** Which rolled-back or expired handoff; the task’s latest by default. */
readonly "handoffId"?: string
readonly "agentState"?: {
readonly "taskId": string
readonly "handoffId"?: string
readonly "parentHandoffId"?: string | null
readonly "timestamp"?: string
readonly "agent": {
readonly "agentId": string
readonly "agentVersion": string
readonly "executionId"?: string
}
readonly "taskDescription": string
readonly "completedSubtasks": readonly (Readonly<Record<string, unknown>>)[]
readonly "remainingSubtasks": readonly (Readonly<Record<string, unknown>>)[]
readonly "currentState": Readonly<Record<string, unknown>>
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "conversationHistory"?: readonly ({
readonly "role": string
readonly "content": string
})[]
readonly "conversationHistorySummary"?: string
readonly "toolCallHistory"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "cost": {
readonly "spentSoFarUSD": number
readonly "budgetRemainingUSD": number
readonly "ownCostUSD": number
readonly "tokenSpent": {
readonly "prompt": number
readonly "completion": number
}
}
readonly "traceparent"?: string
readonly "tracestate"?: string
readonly "personalData"?: {
readonly "dataSubjects": readonly (string)[]
readonly "payload": Readonly<Record<string, unknown>>
}
readonly "dataClassification"?: string
readonly "residency"?: Readonly<Record<string, unknown>>
readonly "stream"?: Readonly<Record<string, unknown>>
readonly "contextSnapshot"?: Readonly<Record<string, unknown>>
readonly "externalRef"?: Readonly<Record<string, unknown>>
readonly "delegation"?: Readonly<Record<string, unknown>>
readonly "extensions"?: Readonly<Record<string, unknown>>
}
readonly "targetAgentType"?: string
readonly "constraints"?: {
readonly "list"?: readonly (string)[]
readonly "agentVersion"?: string
readonly "priority"?: number
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requiresApproval"?: boolean
readonly "tokenBudget"?: number
readonly "replySchema"?: string
readonly "replySchemaRef"?: string
readonly "requirements"?: Readonly<Record<string, unknown>>
/** Each gets a full copy as a branch of its own; the target is one of them. */
readonly "receiverList"?: readonly (Readonly<Record<string, unknown>>)[]
/** What waits for those branches. */
readonly "join"?: {
readonly "to": string
readonly "agentVersion"?: string
readonly "taskDescription": string
readonly "remainingSubtasks"?: readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
readonly "constraints"?: readonly (string)[]
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "priority"?: number
readonly "budgetUSD"?: number
readonly "requiresApproval"?: boolean
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requirements"?: {
readonly "mcp"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
}
readonly "tokenBudget"?: number
readonly "replySchema"?: "prose" | "structured" | "json"
readonly "replySchemaRef"?: string
/** As sensitive as before, or more. */
readonly "dataClassification"?: "public" | "internal" | "confidential" | "restricted"
readonly "residency"?: {
readonly "jurisdiction": string
readonly "transferMechanism": "none" | "adequacy" | "scc" | "bcr" | "derogation"
}
readonly "externalRef"?: {
readonly "protocol": string
readonly "id": string
}
/** Private fields; those of the message that are not named here carry over. */
readonly "extensions"?: Readonly<Record<string, unknown>>
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
/** How many branches must have completed; the others are canceled then. */
readonly "waitFor"?: "all" | "any" | number
readonly "onFailure"?: "wait" | "skip" | "fail"
}
readonly "schemaVersion"?: "2.0" | "2.1" | "2.2"
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
}
}

export type ReleaseRequest = {
/** How long the release may be made use of; reviewers agree only about the same. */
readonly "validHours"?: number
}

export type RedactRequest = {
readonly "redactions"?: readonly ({
/** JSON pointer to a text of the message, or to what holds such texts. */
readonly "pointer": string
/** UTF-16 offsets [start, end) as in the evidence; without them all of it goes. */
readonly "spans"?: readonly (readonly (number)[])[]
})[]
/** Instead of redactions: agree to what another reviewer proposed. */
readonly "proposal"?: string
}

export type EmptyRequest = {

}

export type WhyRequest = {
/** One line for whoever reads the history. It does not leave by webhooks. */
readonly "why": string
}

export type AlertsRequest = {
readonly "filter": {
/** Only of this kind. */
readonly "kind"?: string
readonly "severity"?: "page" | "ticket"
/** Only what handoffs of this sender opened: the operator of the key, or else the agent. */
readonly "sender"?: string
/** Only of this reason. */
readonly "reason"?: string
/** Only where the agent type that handed on begins so. */
readonly "fromPrefix"?: string
/** Only where the agent type that was handed to begins so. */
readonly "toPrefix"?: string
/** Only alerts that came last, and escalations that were opened, before this. */
readonly "before"?: string
}
/** Only count what is meant. */
readonly "dryRun"?: boolean
}

export type AlertsWhyRequest = {
readonly "filter": {
/** Only of this kind. */
readonly "kind"?: string
readonly "severity"?: "page" | "ticket"
/** Only what handoffs of this sender opened: the operator of the key, or else the agent. */
readonly "sender"?: string
/** Only of this reason. */
readonly "reason"?: string
/** Only where the agent type that handed on begins so. */
readonly "fromPrefix"?: string
/** Only where the agent type that was handed to begins so. */
readonly "toPrefix"?: string
/** Only alerts that came last, and escalations that were opened, before this. */
readonly "before"?: string
}
/** Only count what is meant. */
readonly "dryRun"?: boolean
/** One line for whoever reads the history. It does not leave by webhooks. */
readonly "why": string
}

export type EscalationsRequest = {
readonly "filter": {
/** Only of this reason. */
readonly "reason"?: string
/** Only where the agent type that handed on begins so. */
readonly "fromPrefix"?: string
/** Only where the agent type that was handed to begins so. */
readonly "toPrefix"?: string
/** Only alerts that came last, and escalations that were opened, before this. */
readonly "before"?: string
}
/** Only count what is meant. */
readonly "dryRun"?: boolean
}

export type EscalationsWhyRequest = {
readonly "filter": {
/** Only of this reason. */
readonly "reason"?: string
/** Only where the agent type that handed on begins so. */
readonly "fromPrefix"?: string
/** Only where the agent type that was handed to begins so. */
readonly "toPrefix"?: string
/** Only alerts that came last, and escalations that were opened, before this. */
readonly "before"?: string
}
/** Only count what is meant. */
readonly "dryRun"?: boolean
/** One line for whoever reads the history. It does not leave by webhooks. */
readonly "why": string
}

export type DryRunRequest = {
readonly "handoffIds"?: readonly (string)[]
readonly "cluster"?: string
}

export type RedriveRequest = {
readonly "handoffIds"?: readonly (string)[]
readonly "cluster"?: string
readonly "ratePerSecond"?: number
}

export type HandoffsApiCreate = {
readonly "fromProfileId": string
readonly "toProfileId": string
readonly "subject": string
readonly "body": string
readonly "sourceTaskId"?: string | null
/** 0 critical, 1 high, 2 medium (where it is left out), 3 low. */
readonly "priority"?: number | null
/** Nothing of it executes before it was approved. False where it is left out. */
readonly "requiresApproval"?: boolean | null
readonly "parentMessageId"?: string | null
/** Opaque ids of the people whom the text is about; erasing one of them erases it. */
readonly "dataSubjects"?: readonly (string)[] | null
}

export type HandoffsApiDecision = {
readonly "action": "approve" | "reject"
/** A name that is kept and shown; "user" where it is left out. */
readonly "approvedBy"?: string | null
}

export type ClaimRequest = {
readonly "agent": {
readonly "type": string
/** Semantic version of the agent that asks. */
readonly "version": string
/** Keys that currentState must have (E06). */
readonly "requires"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
readonly "mcp"?: readonly (string)[]
/** Where it runs: ISO 3166-1 alpha-2, or EU. Without it the agent is given nothing that must stay somewhere. */
readonly "jurisdiction"?: string
readonly "contextWindowTokens"?: number
}
readonly "max"?: number
/** How long to wait for work where there is none. */
readonly "waitMs"?: number
}

export type HeartbeatRequest = {
readonly "executions": readonly ({
readonly "handoffId": string
readonly "fencingToken": number
})[]
}

export type SettleRequest = {
readonly "executions": readonly ({
readonly "handoffId": string
readonly "fencingToken": number
readonly "outcome": "complete"
/** The outcome; that of the task where nothing is handed on. */
readonly "result"?: unknown
readonly "subtask"?: {
readonly "subtaskId": string
readonly "description": string
readonly "result"?: unknown
}
/** What was said in this execution: it goes on after the turns of the message. */
readonly "conversation"?: readonly ({
readonly "role": string
readonly "content": string
readonly "timestamp"?: string
readonly "name"?: string
readonly "tool_call_id"?: string
readonly "metadata"?: Readonly<Record<string, unknown>>
})[]
/** Tools that were called in this execution. */
readonly "toolCalls"?: readonly ({
readonly "tool": string
readonly "calledAt": string
readonly "inputHash": string
readonly "outputTokens"?: number
})[]
/** People whose data came in, and the data; they join those of the message. Erasing one of them erases what is answered here, also where nothing is handed on. */
readonly "personalData"?: {
readonly "dataSubjects": readonly (string)[]
readonly "payload"?: Readonly<Record<string, unknown>>
}
/** The next currentState; that of the message by default. */
readonly "state"?: Readonly<Record<string, unknown>>
readonly "costUSD"?: number
readonly "tokens"?: {
readonly "prompt": number
readonly "completion": number
}
/** The language model that was used; it stands in the audit record. */
readonly "model"?: string
/** How many chunks its stream has in all: it commits only with exactly these. */
readonly "chunks"?: number
/** Several begin a branch each and run at the same time. */
readonly "next"?: readonly ({
readonly "to": string
readonly "agentVersion"?: string
readonly "taskDescription": string
readonly "remainingSubtasks"?: readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
readonly "constraints"?: readonly (string)[]
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "priority"?: number
readonly "budgetUSD"?: number
readonly "requiresApproval"?: boolean
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requirements"?: {
readonly "mcp"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
}
readonly "tokenBudget"?: number
readonly "replySchema"?: "prose" | "structured" | "json"
readonly "replySchemaRef"?: string
/** As sensitive as before, or more. */
readonly "dataClassification"?: "public" | "internal" | "confidential" | "restricted"
readonly "residency"?: {
readonly "jurisdiction": string
readonly "transferMechanism": "none" | "adequacy" | "scc" | "bcr" | "derogation"
}
readonly "externalRef"?: {
readonly "protocol": string
readonly "id": string
}
/** Private fields; those of the message that are not named here carry over. */
readonly "extensions"?: Readonly<Record<string, unknown>>
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
readonly "branch"?: string
})[]
readonly "join"?: {
readonly "to": string
readonly "agentVersion"?: string
readonly "taskDescription": string
readonly "remainingSubtasks"?: readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
readonly "constraints"?: readonly (string)[]
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "priority"?: number
readonly "budgetUSD"?: number
readonly "requiresApproval"?: boolean
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requirements"?: {
readonly "mcp"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
}
readonly "tokenBudget"?: number
readonly "replySchema"?: "prose" | "structured" | "json"
readonly "replySchemaRef"?: string
/** As sensitive as before, or more. */
readonly "dataClassification"?: "public" | "internal" | "confidential" | "restricted"
readonly "residency"?: {
readonly "jurisdiction": string
readonly "transferMechanism": "none" | "adequacy" | "scc" | "bcr" | "derogation"
}
readonly "externalRef"?: {
readonly "protocol": string
readonly "id": string
}
/** Private fields; those of the message that are not named here carry over. */
readonly "extensions"?: Readonly<Record<string, unknown>>
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
/** How many branches must have completed; the others are canceled then. */
readonly "waitFor"?: "all" | "any" | number
readonly "onFailure"?: "wait" | "skip" | "fail"
}
} | {
readonly "handoffId": string
readonly "fencingToken": number
readonly "outcome": "partial"
/** The outcome; that of the task where nothing is handed on. */
readonly "result"?: unknown
readonly "subtask"?: {
readonly "subtaskId": string
readonly "description": string
readonly "result"?: unknown
}
/** What was said in this execution: it goes on after the turns of the message. */
readonly "conversation"?: readonly ({
readonly "role": string
readonly "content": string
readonly "timestamp"?: string
readonly "name"?: string
readonly "tool_call_id"?: string
readonly "metadata"?: Readonly<Record<string, unknown>>
})[]
/** Tools that were called in this execution. */
readonly "toolCalls"?: readonly ({
readonly "tool": string
readonly "calledAt": string
readonly "inputHash": string
readonly "outputTokens"?: number
})[]
/** People whose data came in, and the data; they join those of the message. Erasing one of them erases what is answered here, also where nothing is handed on. */
readonly "personalData"?: {
readonly "dataSubjects": readonly (string)[]
readonly "payload"?: Readonly<Record<string, unknown>>
}
/** The next currentState; that of the message by default. */
readonly "state"?: Readonly<Record<string, unknown>>
readonly "costUSD"?: number
readonly "tokens"?: {
readonly "prompt": number
readonly "completion": number
}
/** The language model that was used; it stands in the audit record. */
readonly "model"?: string
/** How many chunks its stream has in all: it commits only with exactly these. */
readonly "chunks"?: number
/** Several begin a branch each and run at the same time. */
readonly "next"?: readonly ({
readonly "to": string
readonly "agentVersion"?: string
readonly "taskDescription": string
readonly "remainingSubtasks"?: readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
readonly "constraints"?: readonly (string)[]
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "priority"?: number
readonly "budgetUSD"?: number
readonly "requiresApproval"?: boolean
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requirements"?: {
readonly "mcp"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
}
readonly "tokenBudget"?: number
readonly "replySchema"?: "prose" | "structured" | "json"
readonly "replySchemaRef"?: string
/** As sensitive as before, or more. */
readonly "dataClassification"?: "public" | "internal" | "confidential" | "restricted"
readonly "residency"?: {
readonly "jurisdiction": string
readonly "transferMechanism": "none" | "adequacy" | "scc" | "bcr" | "derogation"
}
readonly "externalRef"?: {
readonly "protocol": string
readonly "id": string
}
/** Private fields; those of the message that are not named here carry over. */
readonly "extensions"?: Readonly<Record<string, unknown>>
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
readonly "branch"?: string
})[]
readonly "join"?: {
readonly "to": string
readonly "agentVersion"?: string
readonly "taskDescription": string
readonly "remainingSubtasks"?: readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
readonly "constraints"?: readonly (string)[]
readonly "relevantContext"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "priority"?: number
readonly "budgetUSD"?: number
readonly "requiresApproval"?: boolean
readonly "deadline"?: string
readonly "expiresAt"?: string
readonly "requirements"?: {
readonly "mcp"?: readonly (string)[]
readonly "capabilities"?: readonly (string)[]
}
readonly "tokenBudget"?: number
readonly "replySchema"?: "prose" | "structured" | "json"
readonly "replySchemaRef"?: string
/** As sensitive as before, or more. */
readonly "dataClassification"?: "public" | "internal" | "confidential" | "restricted"
readonly "residency"?: {
readonly "jurisdiction": string
readonly "transferMechanism": "none" | "adequacy" | "scc" | "bcr" | "derogation"
}
readonly "externalRef"?: {
readonly "protocol": string
readonly "id": string
}
/** Private fields; those of the message that are not named here carry over. */
readonly "extensions"?: Readonly<Record<string, unknown>>
readonly "receiverContextWindowTokens"?: number
readonly "compressionThreshold"?: number
readonly "verbatimTurns"?: number
/** How many branches must have completed; the others are canceled then. */
readonly "waitFor"?: "all" | "any" | number
readonly "onFailure"?: "wait" | "skip" | "fail"
}
/** What is left: it goes on with `next`, or by itself to the same agent type. */
readonly "remaining": readonly ({
readonly "subtaskId": string
readonly "description": string
})[]
} | {
readonly "handoffId": string
readonly "fencingToken": number
readonly "outcome": "fail"
/** An upper-case name. It stands in logs and records, so no text of the work may be in it. */
readonly "code": string
readonly "retry"?: boolean
} | {
readonly "handoffId": string
readonly "fencingToken": number
readonly "outcome": "reject"
/** An upper-case name. It stands in logs and records, so no text of the work may be in it. */
readonly "code": string
} | {
readonly "handoffId": string
readonly "fencingToken": number
readonly "outcome": "blocked"
readonly "unmet": readonly (string)[]
})[]
}

export type EmitRequest = {
readonly "fencingToken": number
/** The number of the first chunk; the others follow it. */
readonly "seq": number
readonly "chunks": readonly ({
/** What it is, in a word of the agent’s own. */
readonly "kind"?: string
/** Any JSON value; the whole chunk takes at most 64 KiB. */
readonly "content": unknown
})[]
}

export type MakeSubscriptionRequest = {
/** Of the tenant’s own choice, and one subscription’s only. */
readonly "name": string
/** https, at an address of the public internet; checked at every connection. */
readonly "url": string
/** The whole event as the body (application/cloudevents+json), or its data with its attributes as ce- headers. */
readonly "mode"?: "structured" | "binary"
/** What is told: events that every one of these fits, in the filter dialects exact, prefix, suffix, all, any and not of the CloudEvents Subscriptions API, over attributes of events (type, subject, fromagent, toagent, reason, handoffid, severity and others). At most 64 expressions and values in all, 6 deep; [] tells everything. */
readonly "filters"?: readonly (Readonly<Record<string, unknown>>)[]
/** whsec_ and 24 to 64 random bytes in base64; one is made where it is left out. */
readonly "secret"?: string
}

export type ChangeSubscriptionRequest = {
/** Of the tenant’s own choice, and one subscription’s only. */
readonly "name"?: string
/** https, at an address of the public internet; checked at every connection. */
readonly "url"?: string
/** The whole event as the body (application/cloudevents+json), or its data with its attributes as ce- headers. */
readonly "mode"?: "structured" | "binary"
/** What is told: events that every one of these fits, in the filter dialects exact, prefix, suffix, all, any and not of the CloudEvents Subscriptions API, over attributes of events (type, subject, fromagent, toagent, reason, handoffid, severity and others). At most 64 expressions and values in all, 6 deep; [] tells everything. */
readonly "filters"?: readonly (Readonly<Record<string, unknown>>)[]
}

export type RotateSecretRequest = {
/** whsec_ and 24 to 64 random bytes in base64; one is made where it is left out. */
readonly "secret"?: string
/** How long the secret of before signs beside the new one. */
readonly "overlapHours"?: number
}

export type ReplayRequest = {
/** Tells again what was made an event then and later. */
readonly "since"?: string
/** Tells again what came after this event. */
readonly "after"?: string
}

export type RedriveEventsRequest = {
/** All that were given up where it is left out. */
readonly "eventIds"?: readonly (string)[]
}

/** Every operation, by its operationId. */
export interface Operations {
/** Send a handoff; answered once it is durable */
sendHandoff: {
  readonly method: 'POST'
  readonly path: '/v2/handoffs'
  readonly inPath: {

}
  readonly query: {
readonly "mode"?: "async" | "sync"
}
  readonly body: StateSubmission | MessageSubmission
  readonly answer: Delivered | Sent
}
/** Take what has come back to senders: refused handoffs to correct, rolled-back tasks to resume */
takeReturns: {
  readonly method: 'POST'
  readonly path: '/v2/returns/take'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: TakeRequest
  readonly answer: Notices
}
/** Say that it is dealt with; a return that was not corrected is tried again at once */
acknowledgeReturn: {
  readonly method: 'POST'
  readonly path: '/v2/returns/{id}/acknowledge'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Acknowledged
}
/** Correct a returned handoff; answered once the correction is durable */
reviseHandoff: {
  readonly method: 'POST'
  readonly path: '/v2/handoffs/{id}/revisions'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: StateRevision | MessageRevision
  readonly answer: Revised
}
/** The exact bytes the sender of the task saved last */
readCheckpoint: {
  readonly method: 'GET'
  readonly path: '/v2/tasks/{id}/checkpoint'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Readonly<Record<string, unknown>>
}
/** Take a task up again after a rollback or an expiry */
resumeTask: {
  readonly method: 'POST'
  readonly path: '/v2/tasks/{id}/resume'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: ResumeRequest
  readonly answer: Resumed
}
/** One handoff: its state, attempts, returns, cost and result */
readHandoff: {
  readonly method: 'GET'
  readonly path: '/v2/handoffs/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Handoff
}
/** What came out of a branch that a handoff joins, whole */
readBranch: {
  readonly method: 'GET'
  readonly path: '/v2/handoffs/{id}/branches/{branch}'
  readonly inPath: {
readonly "id": string
readonly "branch": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: JoinedBranch
}
/** One task and its handoffs in the order they were sent */
readTask: {
  readonly method: 'GET'
  readonly path: '/v2/tasks/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: TaskWithHandoffs
}
/** One task with its records in the tamper-evident audit log */
traceTask: {
  readonly method: 'GET'
  readonly path: '/v2/tasks/{id}/trace'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: TaskTrace
}
/** The receipts of the audit log that the task's executions hold */
listTaskReceipts: {
  readonly method: 'GET'
  readonly path: '/v2/tasks/{id}/receipts'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "receipts"?: readonly (Receipt)[]
}
}
/** Tasks, newest first */
listTasks: {
  readonly method: 'GET'
  readonly path: '/v2/tasks'
  readonly inPath: {

}
  readonly query: {
readonly "status"?: "PENDING_HANDOFF" | "RUNNING" | "AWAITING_HUMAN" | "COMPLETED" | "FAILED" | "CANCELED"
readonly "idPrefix"?: string
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: {
readonly "tasks"?: readonly (Task)[]
/** For the next page; null where this is the last. */
readonly "nextCursor"?: string | null
/** How many there are in all; counted to 10000. */
readonly "total"?: number
/** False where there are more than `total`. */
readonly "totalIsExact"?: boolean
}
}
/** Whether the whole audit log is what was recorded */
verifyLog: {
  readonly method: 'GET'
  readonly path: '/v2/verification'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "verdict": "verified" | "altered" | "lost" | "clock" | "incomplete"
readonly "records": number
/** The first 100. */
readonly "findings": readonly (Readonly<Record<string, unknown>>)[]
readonly "findingsTotal": number
readonly "verifiedAt": string
}
}
/** Objectives, their budgets and how fast they burn, slow pairs, rates, and what waits */
readServiceLevels: {
  readonly method: 'GET'
  readonly path: '/v2/slo'
  readonly inPath: {

}
  readonly query: {
readonly "transport"?: "http" | "queue" | "temporal"
readonly "from"?: string
readonly "to"?: string
}
  readonly body: undefined
  readonly answer: ServiceLevels
}
/** Dead letters that wait for a person, oldest first */
listDeadLetters: {
  readonly method: 'GET'
  readonly path: '/v2/dead-letters'
  readonly inPath: {

}
  readonly query: {
readonly "reason"?: string
readonly "cluster"?: string
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: {
readonly "deadLetters"?: readonly (DeadLetter)[]
/** For the next page; null where this is the last. */
readonly "nextCursor"?: string | null
/** How many there are in all; counted to 10000. */
readonly "total"?: number
/** False where there are more than `total`. */
readonly "totalIsExact"?: boolean
}
}
/** Waiting dead letters by what they have in common, the largest cluster first */
listDeadLetterClusters: {
  readonly method: 'GET'
  readonly path: '/v2/dead-letters/clusters'
  readonly inPath: {

}
  readonly query: {
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: {
readonly "clusters"?: readonly (DeadLetterCluster)[]
/** For the next page; null where this is the last. */
readonly "nextCursor"?: string | null
/** How many there are in all; counted to 10000. */
readonly "total"?: number
/** False where there are more than `total`. */
readonly "totalIsExact"?: boolean
}
}
/** What the scanner stopped and people released as it was, oldest decision first */
listReleasedDeadLetters: {
  readonly method: 'GET'
  readonly path: '/v2/dead-letters/released'
  readonly inPath: {

}
  readonly query: {
readonly "since"?: string
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: {
readonly "deadLetters"?: readonly (ReleasedDeadLetter)[]
/** For the next page; null where this is the last. */
readonly "nextCursor"?: string | null
/** How many there are in all; counted to 10000. */
readonly "total"?: number
/** False where there are more than `total`. */
readonly "totalIsExact"?: boolean
}
}
/** One dead letter: evidence, proposals, and what is still needed; never the text */
getDeadLetter: {
  readonly method: 'GET'
  readonly path: '/v2/dead-letters/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: DeadLetterCase
}
/** The quarantined message itself; who reads it is on record */
getDeadLetterMessage: {
  readonly method: 'GET'
  readonly path: '/v2/dead-letters/{id}/message'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "handoffId"?: string
readonly "keyId"?: string
readonly "signature"?: string
readonly "message"?: unknown
readonly "bytesBase64"?: string | null
}
}
/** Vote to let it go on as it is; a safety violation needs two people */
releaseDeadLetter: {
  readonly method: 'POST'
  readonly path: '/v2/dead-letters/{id}/release'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: ReleaseRequest
  readonly answer: ReviewOutcome
}
/** Vote to let it go on with texts taken out and signed anew */
redactDeadLetter: {
  readonly method: 'POST'
  readonly path: '/v2/dead-letters/{id}/redact'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: RedactRequest
  readonly answer: ReviewOutcome
}
/** Give it up for good; its task fails where nothing else of it is open */
discardDeadLetter: {
  readonly method: 'POST'
  readonly path: '/v2/dead-letters/{id}/discard'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: ReviewOutcome
}
/** Hand it back to its sender, whose correction takes its place */
askSender: {
  readonly method: 'POST'
  readonly path: '/v2/dead-letters/{id}/ask-sender'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: ReviewOutcome
}
/** Judge stored messages by today's schema, scanner and agents; nothing is enqueued */
dryRunDeadLetters: {
  readonly method: 'POST'
  readonly path: '/v2/dead-letters/dry-run'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: DryRunRequest
  readonly answer: DryRunResult
}
/** Send back what would pass: a canary of five first, the rest at a bounded rate */
redriveDeadLetters: {
  readonly method: 'POST'
  readonly path: '/v2/dead-letters/redrive'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: RedriveRequest
  readonly answer: Redrive
}
/** A bulk re-drive with its counts */
getRedrive: {
  readonly method: 'GET'
  readonly path: '/v2/dead-letters/redrives/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Redrive
}
/** Stop a bulk re-drive; what went back already goes on */
cancelRedrive: {
  readonly method: 'DELETE'
  readonly path: '/v2/dead-letters/redrives/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: Redrive
}
/** Plan the erasure of a person; nothing is erased yet */
planErasure: {
  readonly method: 'POST'
  readonly path: '/v2/erasures'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: {
/** The id under which messages name the person in dataSubjects. */
readonly "subject": string
/** Chosen by who plans it, as it is signed. Where it is missing, Baton-Decision-Needed names one: send that. */
readonly "erasureId"?: string
/** The legal ground as a code; it stands in the audit record. */
readonly "basis"?: string
}
  readonly answer: {
readonly "erasureId": string
readonly "state": "PLANNED" | "DEFERRED"
readonly "handoffs": number
readonly "taskIds": readonly (string)[]
readonly "openHandoffIds": readonly (string)[]
readonly "heldTaskIds": readonly (string)[]
readonly "stores": readonly ({
readonly "name": string
readonly "before": number
readonly "after": number
readonly "note"?: string
})[]
}
}
/** Erasures that people of the caller's tenant asked for, newest first */
listErasures: {
  readonly method: 'GET'
  readonly path: '/v2/erasures'
  readonly inPath: {

}
  readonly query: {
readonly "state"?: "PLANNED" | "DEFERRED" | "CONFIRMED" | "ERASED" | "COMPLETED"
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: {
readonly "erasures"?: readonly ({
readonly "id": string
readonly "state": "PLANNED" | "DEFERRED" | "CONFIRMED" | "ERASED" | "COMPLETED"
readonly "basis": string
readonly "requestedBy": string
readonly "receipt": Readonly<Record<string, unknown>> | null
readonly "requestedAt"?: string
readonly "confirmedBy"?: string | null
readonly "confirmedAt"?: string | null
readonly "completedAt"?: string | null
/** What this person signed, as it stands in the record; null before people signed erasures. */
readonly "requestedSigned"?: {
readonly "keyId": string
readonly "signedAt": string
readonly "content": string
readonly "signature": string
} | null
/** What this person signed, as it stands in the record; null before people signed erasures. */
readonly "confirmedSigned"?: {
readonly "keyId": string
readonly "signedAt": string
readonly "content": string
readonly "signature": string
} | null
readonly "handoffIds"?: readonly (string)[]
readonly "taskIds"?: readonly (string)[]
/** Whether all of it is what the auditor signed; else somebody changed the table. */
readonly "proven"?: boolean
})[]
/** For the next page; null where this is the last. */
readonly "nextCursor"?: string | null
/** How many there are in all; counted to 10000. */
readonly "total"?: number
/** False where there are more than `total`. */
readonly "totalIsExact"?: boolean
}
}
/** Confirm as a second person, and erase; repeating it is safe */
confirmErasure: {
  readonly method: 'POST'
  readonly path: '/v2/erasures/{id}/confirm'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: {
/** The id under which messages name the person in dataSubjects. */
readonly "subject": string
}
  readonly answer: {
readonly "erasureId": string
readonly "stores": readonly ({
readonly "name": string
readonly "before": number
readonly "after": number
readonly "note"?: string
})[]
readonly "segments": Readonly<Record<string, unknown>>
readonly "records": readonly (Readonly<Record<string, unknown>>)[]
readonly "sha256": string
readonly "signature": string
readonly "storage"?: readonly (Readonly<Record<string, unknown>>)[]
readonly "backupDays"?: number | null
}
}
/** How far an erasure has come, with its receipt */
readErasure: {
  readonly method: 'GET'
  readonly path: '/v2/erasures/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "id": string
readonly "state": "PLANNED" | "DEFERRED" | "CONFIRMED" | "ERASED" | "COMPLETED"
readonly "basis": string
readonly "requestedBy": string
readonly "receipt": Readonly<Record<string, unknown>> | null
readonly "requestedAt"?: string
readonly "confirmedBy"?: string | null
readonly "confirmedAt"?: string | null
readonly "completedAt"?: string | null
/** What this person signed, as it stands in the record; null before people signed erasures. */
readonly "requestedSigned"?: {
readonly "keyId": string
readonly "signedAt": string
readonly "content": string
readonly "signature": string
} | null
/** What this person signed, as it stands in the record; null before people signed erasures. */
readonly "confirmedSigned"?: {
readonly "keyId": string
readonly "signedAt": string
readonly "content": string
readonly "signature": string
} | null
readonly "handoffIds"?: readonly (string)[]
readonly "taskIds"?: readonly (string)[]
/** Whether all of it is what the auditor signed; else somebody changed the table. */
readonly "proven"?: boolean
}
}
/** Complete interrupted erasures, and erase again what a restored database brought back */
replayErasures: {
  readonly method: 'POST'
  readonly path: '/v2/erasures/replay'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "completed": readonly (string)[]
readonly "unsigned": readonly (string)[]
readonly "handoffs": number
readonly "audit": Readonly<Record<string, unknown>>
}
}
/** The tasks, handoffs and records that name a person, without any text */
searchSubject: {
  readonly method: 'POST'
  readonly path: '/v2/subjects/search'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: {
/** The id under which messages name the person in dataSubjects. */
readonly "subject": string
}
  readonly answer: {
readonly "handoffs": readonly (Readonly<Record<string, unknown>>)[]
readonly "records": readonly (Readonly<Record<string, unknown>>)[]
}
}
/** Handoffs that wait for an approval, oldest first */
listApprovals: {
  readonly method: 'GET'
  readonly path: '/v2/approvals'
  readonly inPath: {

}
  readonly query: {
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: {
readonly "approvals"?: readonly (Approval)[]
/** For the next page; null where this is the last. */
readonly "nextCursor"?: string | null
/** How many there are in all; counted to 10000. */
readonly "total"?: number
/** False where there are more than `total`. */
readonly "totalIsExact"?: boolean
}
}
/** Agent types with a live worker, by name */
listAgents: {
  readonly method: 'GET'
  readonly path: '/v2/agents'
  readonly inPath: {

}
  readonly query: {
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: {
readonly "agents"?: readonly (Agent)[]
/** For the next page; null where this is the last. */
readonly "nextCursor"?: string | null
/** How many there are in all; counted to 10000. */
readonly "total"?: number
/** False where there are more than `total`. */
readonly "totalIsExact"?: boolean
}
}
/** Approve or refuse a handoff; the first decision is final and repeating it is safe */
decideApproval: {
  readonly method: 'POST'
  readonly path: '/v2/approvals/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: {
readonly "decision": "approve" | "reject"
/** Goes into the audit record, so it is a code and never text. */
readonly "reasonCode"?: string
}
  readonly answer: DecidedApproval
}
/** Cancel a handoff; a running execution is told and gets a grace */
cancelHandoff: {
  readonly method: 'POST'
  readonly path: '/v2/handoffs/{id}/cancel'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: {
/** How long a result of a running execution still counts; 0 ends it at once. */
readonly "graceMs"?: number
}
  readonly answer: Cancellation
}
/** Cancel a task: everything open in it; it takes no further handoffs */
cancelTask: {
  readonly method: 'POST'
  readonly path: '/v2/tasks/{id}/cancel'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: {
/** How long a result of a running execution still counts; 0 ends it at once. */
readonly "graceMs"?: number
}
  readonly answer: Cancellation
}
/** Alerts that are not closed, or of one state; the newest first */
listAlerts: {
  readonly method: 'GET'
  readonly path: '/v2/alerts'
  readonly inPath: {

}
  readonly query: {
readonly "state"?: "open" | "acknowledged" | "closed"
readonly "kind"?: string
readonly "severity"?: "page" | "ticket"
readonly "sender"?: string
readonly "reason"?: string
readonly "fromPrefix"?: string
readonly "toPrefix"?: string
readonly "before"?: string
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: Alerts
}
/** One alert with its history */
getAlert: {
  readonly method: 'GET'
  readonly path: '/v2/alerts/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: AlertWithHistory
}
/** Say that one looks after it; the first who does stands */
acknowledgeAlert: {
  readonly method: 'POST'
  readonly path: '/v2/alerts/{id}/acknowledge'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: HandledAlert
}
/** Say that it is over, and why; what comes after it is another alert */
closeAlert: {
  readonly method: 'POST'
  readonly path: '/v2/alerts/{id}/close'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: WhyRequest
  readonly answer: HandledAlert
}
/** Have every webhook of alerts told something that is no alert */
testAlertWebhooks: {
  readonly method: 'POST'
  readonly path: '/v2/alerts/tests'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: AlertWebhookTest
}
/** How a test of the webhooks stands; kept for a week */
getAlertWebhookTest: {
  readonly method: 'GET'
  readonly path: '/v2/alerts/tests/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: AlertWebhookTest
}
/** Tasks that wait for a person, or escalations of one state; oldest first */
listEscalations: {
  readonly method: 'GET'
  readonly path: '/v2/escalations'
  readonly inPath: {

}
  readonly query: {
readonly "state"?: "open" | "acknowledged" | "resolved"
readonly "reason"?: string
readonly "fromPrefix"?: string
readonly "toPrefix"?: string
readonly "before"?: string
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: Escalations
}
/** One escalation, by the id of its handoff */
getEscalation: {
  readonly method: 'GET'
  readonly path: '/v2/escalations/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Escalation
}
/** Say that one looks after it; the first who does stands */
acknowledgeEscalation: {
  readonly method: 'POST'
  readonly path: '/v2/escalations/{id}/acknowledge'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: HandledEscalation
}
/** Say that its task needs nobody any more, and why; the task stays as it is */
resolveEscalation: {
  readonly method: 'POST'
  readonly path: '/v2/escalations/{id}/resolve'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: WhyRequest
  readonly answer: HandledEscalation
}
/** Say that one looks after all open alerts that a filter means */
acknowledgeAlerts: {
  readonly method: 'POST'
  readonly path: '/v2/alerts/acknowledge'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: AlertsRequest
  readonly answer: HandledMany
}
/** Say of all alerts that a filter means that they are over */
closeAlerts: {
  readonly method: 'POST'
  readonly path: '/v2/alerts/close'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: AlertsWhyRequest
  readonly answer: HandledMany
}
/** Say that one looks after all open escalations that a filter means */
acknowledgeEscalations: {
  readonly method: 'POST'
  readonly path: '/v2/escalations/acknowledge'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: EscalationsRequest
  readonly answer: HandledMany
}
/** Say of all escalations that a filter means that their tasks need nobody any more */
resolveEscalations: {
  readonly method: 'POST'
  readonly path: '/v2/escalations/resolve'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: EscalationsWhyRequest
  readonly answer: HandledMany
}
/** Claim handoffs for an agent type; waits where there are none */
claimExecutions: {
  readonly method: 'POST'
  readonly path: '/v2/executions/claim'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: ClaimRequest
  readonly answer: ClaimedExecutions
}
/** Say that claimed handoffs are still worked on; answers which of them to stop */
keepExecutions: {
  readonly method: 'POST'
  readonly path: '/v2/executions/heartbeat'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: HeartbeatRequest
  readonly answer: KeptExecutions
}
/** Say what claimed handoffs came to; answered once that is durable */
settleExecutions: {
  readonly method: 'POST'
  readonly path: '/v2/executions/settle'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: SettleRequest
  readonly answer: SettledExecutions
}
/** What an execution yields while it runs: a page of it, or all of it as it comes */
readChunks: {
  readonly method: 'GET'
  readonly path: '/v2/handoffs/{id}/chunks'
  readonly inPath: {
readonly "id": string
}
  readonly query: {
readonly "after"?: number
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: StreamPage
}
/** Add chunks to the stream of an execution that is yours; answered once they are durable */
emitChunks: {
  readonly method: 'POST'
  readonly path: '/v2/handoffs/{id}/chunks'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmitRequest
  readonly answer: Emitted
}
/** Events of the tenant: as they come, or a page of those that are kept */
readEvents: {
  readonly method: 'GET'
  readonly path: '/v2/events'
  readonly inPath: {

}
  readonly query: {
readonly "after"?: string
readonly "since"?: string
readonly "type"?: string
readonly "taskId"?: string
readonly "fromAgent"?: string
readonly "toAgent"?: string
readonly "reason"?: string
readonly "filters"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: EventPage
}
/** Have a webhook told of events from now on; its secret is shown this once */
makeEventSubscription: {
  readonly method: 'POST'
  readonly path: '/v2/event-subscriptions'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: MakeSubscriptionRequest
  readonly answer: SubscriptionWithSecret
}
/** Subscriptions, oldest first */
listEventSubscriptions: {
  readonly method: 'GET'
  readonly path: '/v2/event-subscriptions'
  readonly inPath: {

}
  readonly query: {
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: Subscriptions
}
/** One subscription, and how its deliveries go */
getEventSubscription: {
  readonly method: 'GET'
  readonly path: '/v2/event-subscriptions/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Subscription
}
/** Change where, how or of what is told; what waits already is told there too */
changeEventSubscription: {
  readonly method: 'PATCH'
  readonly path: '/v2/event-subscriptions/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: ChangeSubscriptionRequest
  readonly answer: Subscription
}
/** Tell it nothing more, and forget what waits */
deleteEventSubscription: {
  readonly method: 'DELETE'
  readonly path: '/v2/event-subscriptions/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: DeletedSubscription
}
/** Sign with another secret; the one of before signs beside it for a while */
rotateEventSecret: {
  readonly method: 'POST'
  readonly path: '/v2/event-subscriptions/{id}/rotate'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: RotateSecretRequest
  readonly answer: SubscriptionWithSecret
}
/** Send nothing until it is resumed; what happens meanwhile waits */
pauseEventSubscription: {
  readonly method: 'POST'
  readonly path: '/v2/event-subscriptions/{id}/pause'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: Subscription
}
/** Send what waits, at once; also where it was disabled or its consumer seemed away */
resumeEventSubscription: {
  readonly method: 'POST'
  readonly path: '/v2/event-subscriptions/{id}/resume'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: Subscription
}
/** Have it told an event of type baton.subscription.test */
testEventSubscription: {
  readonly method: 'POST'
  readonly path: '/v2/event-subscriptions/{id}/test'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: EmptyRequest
  readonly answer: SubscriptionTest
}
/** Tell events again, under the same ids, from a time or from behind an event */
replayEvents: {
  readonly method: 'POST'
  readonly path: '/v2/event-subscriptions/{id}/replay'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: ReplayRequest
  readonly answer: Subscription
}
/** Events that were not taken at the first try, the newest first; state=dead lists dead letters */
listEventDeliveries: {
  readonly method: 'GET'
  readonly path: '/v2/event-subscriptions/{id}/deliveries'
  readonly inPath: {
readonly "id": string
}
  readonly query: {
readonly "state"?: "waiting" | "delivered" | "dead"
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: EventDeliveries
}
/** Try dead letters again: these, or all */
redriveEvents: {
  readonly method: 'POST'
  readonly path: '/v2/event-subscriptions/{id}/redrive'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: RedriveEventsRequest
  readonly answer: RedrivenEvents
}
/** Replies that no session peer took until the end of trying, newest first */
listSessionReplies: {
  readonly method: 'GET'
  readonly path: '/v2/session-replies'
  readonly inPath: {

}
  readonly query: {
readonly "cursor"?: string
readonly "limit"?: number
}
  readonly body: undefined
  readonly answer: {
readonly "replies"?: readonly ({
readonly "handoffId"?: string
readonly "messageId"?: string
readonly "peer"?: string
readonly "contextId"?: string
readonly "taskId"?: string
readonly "replySchema"?: string
readonly "attempts"?: number
readonly "createdAt"?: string
readonly "dueAt"?: string | null
readonly "deadAt"?: string
/** A code. */
readonly "lastError"?: string | null
})[]
/** For the next page; null where this is the last. */
readonly "nextCursor"?: string | null
/** How many there are in all; counted to 10000. */
readonly "total"?: number
/** False where there are more than `total`. */
readonly "totalIsExact"?: boolean
}
}
/** Handoffs API: send a message; answered once it is durable */
createHandoffsApiMessage: {
  readonly method: 'POST'
  readonly path: '/api/handoffs'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: HandoffsApiCreate
  readonly answer: HandoffsApiMessage
}
/** Handoffs API: messages, newest first, at most 100 */
listHandoffsApiMessages: {
  readonly method: 'GET'
  readonly path: '/api/handoffs'
  readonly inPath: {

}
  readonly query: {
readonly "status"?: "pending" | "accepted" | "in_progress" | "completed" | "rejected" | "expired"
readonly "profileId"?: string
}
  readonly body: undefined
  readonly answer: readonly (HandoffsApiMessage)[]
}
/** Handoffs API: one message */
readHandoffsApiMessage: {
  readonly method: 'GET'
  readonly path: '/api/handoffs/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: HandoffsApiMessage
}
/** Handoffs API: approve or reject a message that waits for it; the first decision is final */
decideHandoffsApiMessage: {
  readonly method: 'PATCH'
  readonly path: '/api/handoffs/{id}'
  readonly inPath: {
readonly "id": string
}
  readonly query: {

}
  readonly body: HandoffsApiDecision
  readonly answer: HandoffsApiMessage
}
/** Handoffs API: messages to a profile, newest first, at most 100 */
listHandoffsApiInbox: {
  readonly method: 'GET'
  readonly path: '/api/profiles/{id}/handoffs/inbox'
  readonly inPath: {
readonly "id": string
}
  readonly query: {
readonly "status"?: "pending" | "accepted" | "in_progress" | "completed" | "rejected" | "expired"
}
  readonly body: undefined
  readonly answer: readonly (HandoffsApiMessage)[]
}
/** Handoffs API: messages from a profile, newest first, at most 100 */
listHandoffsApiSent: {
  readonly method: 'GET'
  readonly path: '/api/profiles/{id}/handoffs/sent'
  readonly inPath: {
readonly "id": string
}
  readonly query: {
readonly "status"?: "pending" | "accepted" | "in_progress" | "completed" | "rejected" | "expired"
}
  readonly body: undefined
  readonly answer: readonly (HandoffsApiMessage)[]
}
/** The Model Context Protocol over Streamable HTTP, 2026-07-28 and 2025-11-25, without sessions */
mcp: {
  readonly method: 'POST'
  readonly path: '/mcp'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: Readonly<Record<string, unknown>>
  readonly answer: Readonly<Record<string, unknown>>
}
/** Who issues access tokens for this gateway, and which scopes there are (RFC 9728) */
readProtectedResource: {
  readonly method: 'GET'
  readonly path: '/.well-known/oauth-protected-resource'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "resource": string
readonly "authorization_servers"?: readonly (string)[]
readonly "scopes_supported": readonly (string)[]
readonly "bearer_methods_supported": readonly (string)[]
readonly "resource_name"?: string
}
}
/** Who issues access tokens for this gateway, and which scopes there are (RFC 9728) */
readMcpProtectedResource: {
  readonly method: 'GET'
  readonly path: '/.well-known/oauth-protected-resource/mcp'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "resource": string
readonly "authorization_servers"?: readonly (string)[]
readonly "scopes_supported": readonly (string)[]
readonly "bearer_methods_supported": readonly (string)[]
readonly "resource_name"?: string
}
}
/** Dispatch a task in the session handshake, or report the result of one */
sendSessionMessage: {
  readonly method: 'POST'
  readonly path: '/jsonrpc'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: {
readonly "jsonrpc": "2.0"
readonly "id"?: string | number | null
readonly "method": "SendMessage" | "message/send"
readonly "params": {
readonly "message": {
readonly "role"?: "user" | "agent"
readonly "parts": readonly ({
readonly "text"?: string
})[]
readonly "contextId"?: string
readonly "messageId"?: string
}
}
}
  readonly answer: {
readonly "jsonrpc"?: "2.0"
readonly "result"?: Readonly<Record<string, unknown>>
readonly "error"?: Readonly<Record<string, unknown>>
}
}
/** Whether the process is alive, at the path where session peers ask */
sessionHealth: {
  readonly method: 'GET'
  readonly path: '/health'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "status"?: "ok"
}
}
/** Whether the process is alive */
health: {
  readonly method: 'GET'
  readonly path: '/healthz'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: {
readonly "status"?: "ok"
}
}
/** Whether handoffs can be taken and traced now */
readiness: {
  readonly method: 'GET'
  readonly path: '/readyz'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Readiness
}
/** Metrics as Prometheus text or, by Accept, OpenMetrics */
metrics: {
  readonly method: 'GET'
  readonly path: '/metrics'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: unknown
}
/** This document */
describe: {
  readonly method: 'GET'
  readonly path: '/openapi.json'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Readonly<Record<string, unknown>>
}
/** Events, webhooks and the queue as AsyncAPI describes them */
describeEvents: {
  readonly method: 'GET'
  readonly path: '/asyncapi.json'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: Readonly<Record<string, unknown>>
}
/** The registry: every published schema with its SHA-256 */
listSchemas: {
  readonly method: 'GET'
  readonly path: '/schemas'
  readonly inPath: {

}
  readonly query: {

}
  readonly body: undefined
  readonly answer: readonly ({
readonly "id"?: string
readonly "path"?: string
readonly "sha256"?: string
})[]
}
/** One published schema; it never changes */
readSchema: {
  readonly method: 'GET'
  readonly path: '/schemas/{path}'
  readonly inPath: {
readonly "path": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: unknown
}
/** What to do about an alert, for people */
readRunbook: {
  readonly method: 'GET'
  readonly path: '/runbooks/{name}'
  readonly inPath: {
readonly "name": string
}
  readonly query: {

}
  readonly body: undefined
  readonly answer: unknown
}
}

/** Where each operation is. */
export const PLACES: { readonly [Name in keyof Operations]: readonly [string, string] } = {
sendHandoff: ['POST', '/v2/handoffs'],
takeReturns: ['POST', '/v2/returns/take'],
acknowledgeReturn: ['POST', '/v2/returns/{id}/acknowledge'],
reviseHandoff: ['POST', '/v2/handoffs/{id}/revisions'],
readCheckpoint: ['GET', '/v2/tasks/{id}/checkpoint'],
resumeTask: ['POST', '/v2/tasks/{id}/resume'],
readHandoff: ['GET', '/v2/handoffs/{id}'],
readBranch: ['GET', '/v2/handoffs/{id}/branches/{branch}'],
readTask: ['GET', '/v2/tasks/{id}'],
traceTask: ['GET', '/v2/tasks/{id}/trace'],
listTaskReceipts: ['GET', '/v2/tasks/{id}/receipts'],
listTasks: ['GET', '/v2/tasks'],
verifyLog: ['GET', '/v2/verification'],
readServiceLevels: ['GET', '/v2/slo'],
listDeadLetters: ['GET', '/v2/dead-letters'],
listDeadLetterClusters: ['GET', '/v2/dead-letters/clusters'],
listReleasedDeadLetters: ['GET', '/v2/dead-letters/released'],
getDeadLetter: ['GET', '/v2/dead-letters/{id}'],
getDeadLetterMessage: ['GET', '/v2/dead-letters/{id}/message'],
releaseDeadLetter: ['POST', '/v2/dead-letters/{id}/release'],
redactDeadLetter: ['POST', '/v2/dead-letters/{id}/redact'],
discardDeadLetter: ['POST', '/v2/dead-letters/{id}/discard'],
askSender: ['POST', '/v2/dead-letters/{id}/ask-sender'],
dryRunDeadLetters: ['POST', '/v2/dead-letters/dry-run'],
redriveDeadLetters: ['POST', '/v2/dead-letters/redrive'],
getRedrive: ['GET', '/v2/dead-letters/redrives/{id}'],
cancelRedrive: ['DELETE', '/v2/dead-letters/redrives/{id}'],
planErasure: ['POST', '/v2/erasures'],
listErasures: ['GET', '/v2/erasures'],
confirmErasure: ['POST', '/v2/erasures/{id}/confirm'],
readErasure: ['GET', '/v2/erasures/{id}'],
replayErasures: ['POST', '/v2/erasures/replay'],
searchSubject: ['POST', '/v2/subjects/search'],
listApprovals: ['GET', '/v2/approvals'],
listAgents: ['GET', '/v2/agents'],
decideApproval: ['POST', '/v2/approvals/{id}'],
cancelHandoff: ['POST', '/v2/handoffs/{id}/cancel'],
cancelTask: ['POST', '/v2/tasks/{id}/cancel'],
listAlerts: ['GET', '/v2/alerts'],
getAlert: ['GET', '/v2/alerts/{id}'],
acknowledgeAlert: ['POST', '/v2/alerts/{id}/acknowledge'],
closeAlert: ['POST', '/v2/alerts/{id}/close'],
testAlertWebhooks: ['POST', '/v2/alerts/tests'],
getAlertWebhookTest: ['GET', '/v2/alerts/tests/{id}'],
listEscalations: ['GET', '/v2/escalations'],
getEscalation: ['GET', '/v2/escalations/{id}'],
acknowledgeEscalation: ['POST', '/v2/escalations/{id}/acknowledge'],
resolveEscalation: ['POST', '/v2/escalations/{id}/resolve'],
acknowledgeAlerts: ['POST', '/v2/alerts/acknowledge'],
closeAlerts: ['POST', '/v2/alerts/close'],
acknowledgeEscalations: ['POST', '/v2/escalations/acknowledge'],
resolveEscalations: ['POST', '/v2/escalations/resolve'],
claimExecutions: ['POST', '/v2/executions/claim'],
keepExecutions: ['POST', '/v2/executions/heartbeat'],
settleExecutions: ['POST', '/v2/executions/settle'],
readChunks: ['GET', '/v2/handoffs/{id}/chunks'],
emitChunks: ['POST', '/v2/handoffs/{id}/chunks'],
readEvents: ['GET', '/v2/events'],
makeEventSubscription: ['POST', '/v2/event-subscriptions'],
listEventSubscriptions: ['GET', '/v2/event-subscriptions'],
getEventSubscription: ['GET', '/v2/event-subscriptions/{id}'],
changeEventSubscription: ['PATCH', '/v2/event-subscriptions/{id}'],
deleteEventSubscription: ['DELETE', '/v2/event-subscriptions/{id}'],
rotateEventSecret: ['POST', '/v2/event-subscriptions/{id}/rotate'],
pauseEventSubscription: ['POST', '/v2/event-subscriptions/{id}/pause'],
resumeEventSubscription: ['POST', '/v2/event-subscriptions/{id}/resume'],
testEventSubscription: ['POST', '/v2/event-subscriptions/{id}/test'],
replayEvents: ['POST', '/v2/event-subscriptions/{id}/replay'],
listEventDeliveries: ['GET', '/v2/event-subscriptions/{id}/deliveries'],
redriveEvents: ['POST', '/v2/event-subscriptions/{id}/redrive'],
listSessionReplies: ['GET', '/v2/session-replies'],
createHandoffsApiMessage: ['POST', '/api/handoffs'],
listHandoffsApiMessages: ['GET', '/api/handoffs'],
readHandoffsApiMessage: ['GET', '/api/handoffs/{id}'],
decideHandoffsApiMessage: ['PATCH', '/api/handoffs/{id}'],
listHandoffsApiInbox: ['GET', '/api/profiles/{id}/handoffs/inbox'],
listHandoffsApiSent: ['GET', '/api/profiles/{id}/handoffs/sent'],
mcp: ['POST', '/mcp'],
readProtectedResource: ['GET', '/.well-known/oauth-protected-resource'],
readMcpProtectedResource: ['GET', '/.well-known/oauth-protected-resource/mcp'],
sendSessionMessage: ['POST', '/jsonrpc'],
sessionHealth: ['GET', '/health'],
health: ['GET', '/healthz'],
readiness: ['GET', '/readyz'],
metrics: ['GET', '/metrics'],
describe: ['GET', '/openapi.json'],
describeEvents: ['GET', '/asyncapi.json'],
listSchemas: ['GET', '/schemas'],
readSchema: ['GET', '/schemas/{path}'],
readRunbook: ['GET', '/runbooks/{name}'],
}
