// What the API shows of tasks and handoffs: dollars instead of micro-USD, RFC 3339 times, links.
import { readMessage } from '@baton/engine'
import { usdFromMicro } from '@baton/protocol'
import type {
  ApprovalView,
  DeadLetterView,
  DecidedApproval,
  HandoffView,
  ReturnView,
  SenderNotification,
  TaskView,
} from '@baton/store'

export function showTask(task: TaskView): object {
  const { budgetMicroUSD, spentMicroUSD, ...rest } = task
  return {
    ...rest,
    budgetUSD: usdFromMicro(budgetMicroUSD),
    spentUSD: usdFromMicro(spentMicroUSD),
    links: { self: `/v2/tasks/${task.taskId}`, trace: `/v2/tasks/${task.taskId}/trace` },
  }
}

export function showHandoff(handoff: HandoffView): object {
  const { spentMicroUSD, remainingMicroUSD, costMicroUSD, ...rest } = handoff
  return {
    ...rest,
    spentUSD: usdFromMicro(spentMicroUSD),
    remainingUSD: usdFromMicro(remainingMicroUSD),
    costUSD: costMicroUSD === null ? null : usdFromMicro(costMicroUSD),
    links: { self: `/v2/handoffs/${handoff.handoffId}`, task: `/v2/tasks/${handoff.taskId}` },
  }
}

/** What a sender is told: the message as it was refused, and where its checkpoint is. */
export function showNotification(notification: SenderNotification): object {
  const { body, keyId: _, signature, checkpoint: _bytes, checkpointSha256, ...rest } = notification
  return {
    ...rest,
    message: { ...readMessage(body), signature },
    checkpointSha256: Buffer.from(checkpointSha256).toString('hex'),
    links: {
      handoff: `/v2/handoffs/${notification.handoffId}`,
      checkpoint: `/v2/tasks/${notification.taskId}/checkpoint`,
    },
  }
}

export function showReturn({ attempt, reason, details, retryAt, createdAt }: ReturnView): object {
  return { attempt, reason, details, retryAt, createdAt }
}

/** HTTP calls a quarantine attempt `round`. */
export function showDeadLetter({ quarantineAttempt, ...rest }: DeadLetterView): object {
  return {
    ...rest,
    round: quarantineAttempt,
    links: { handoff: `/v2/handoffs/${rest.handoffId}`, task: `/v2/tasks/${rest.taskId}` },
  }
}

export function showApproval(approval: ApprovalView): object {
  return {
    ...approval,
    links: { handoff: `/v2/handoffs/${approval.handoffId}`, task: `/v2/tasks/${approval.taskId}` },
  }
}

export function showDecidedApproval(approval: DecidedApproval): object {
  const { handoffId, taskId, decision, decidedBy, reasonCode, decidedAt, state } = approval
  const links = { handoff: `/v2/handoffs/${handoffId}` }
  return { handoffId, taskId, decision, decidedBy, reasonCode, decidedAt, state, links }
}
