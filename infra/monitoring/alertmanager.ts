// An example of Alertmanager's configuration: pages and tickets go different ways, and what follows from a cause is held back.

/** Replace the two receivers by your own; everything else may stay. */
export function alertmanager(): object {
  return {
    route: {
      receiver: 'tickets',
      group_by: ['alertname', 'transport', 'agent'],
      group_wait: '30s',
      group_interval: '5m',
      repeat_interval: '12h',
      routes: [
        {
          // Whatever else happens, somebody hears of a log that was tampered with, at once and again.
          matchers: ['alertname=~"BatonLogTampered|BatonReceiptsUnmatched|BatonLogSchemaAltered"'],
          receiver: 'pages',
          group_wait: '0s',
          repeat_interval: '1h',
        },
        { matchers: ['severity="page"'], receiver: 'pages', repeat_interval: '4h' },
      ],
    },
    inhibit_rules: [
      {
        source_matchers: ['alertname="BatonLatencyBurnFast"'],
        target_matchers: ['alertname=~"BatonLatencyBurnSlow|BatonPairSlow"'],
        equal: ['transport'],
      },
      {
        // While nothing is published or recorded, everything is slow.
        source_matchers: ['alertname=~"BatonOutboxStale|BatonBreakerOpen"'],
        target_matchers: [
          'alertname=~"BatonLatencyBurn.*|BatonPairSlow|BatonAgentAway|BatonReceiversBusy"',
        ],
      },
      {
        source_matchers: ['alertname="BatonLogUnsealed"'],
        target_matchers: ['alertname=~"BatonLatencyBurn.*|BatonPairSlow"'],
      },
      {
        source_matchers: ['alertname="BatonClockStopsWork"'],
        target_matchers: ['alertname="BatonClockWrong"'],
      },
      {
        source_matchers: ['alertname="BatonDiskFull"'],
        target_matchers: ['alertname="BatonDiskLow"'],
        equal: ['instance', 'folder'],
      },
      {
        source_matchers: ['alertname="BatonExpiresNow"'],
        target_matchers: ['alertname="BatonExpiresSoon"'],
        equal: ['job', 'instance', 'kind', 'name'],
      },
    ],
    receivers: [
      {
        name: 'pages',
        webhook_configs: [{ url: 'http://127.0.0.1:9095/page', send_resolved: true }],
      },
      {
        name: 'tickets',
        webhook_configs: [{ url: 'http://127.0.0.1:9095/ticket', send_resolved: true }],
      },
    ],
  }
}
