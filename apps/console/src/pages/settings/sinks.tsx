import type { Sink } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { remit } from '../../api/client.ts'
import { listQuery } from '../../api/queries.ts'
import { t } from '../../texts.ts'
import { TableOf } from '../../ui/layout.tsx'
import { Described, Literal, Time } from '../../ui/values.tsx'

const { sinks: texts } = t.settings
const TONES = { streaming: 'allow', retrying: 'deny', paused: 'wait' } as const
const POLL_MS = 5_000
const SINK = {
  method: 'POST',
  path: '/v1/sinks',
  body: { type: 'https', target: { url: 'https://siem.example.com/remit' }, format: 'ocsf' },
}

/** The streams of the ledger to other systems, with their state and lag. */
export function Sinks() {
  const query = useQuery({
    ...listQuery('sinks', remit.listSinks, 100),
    refetchInterval: POLL_MS,
  })
  return (
    <TableOf<Sink>
      query={query}
      empty={{ title: texts.empty, text: texts.emptyText, request: SINK }}
      label={t.settings.tabs.sinks}
      rowKey={({ id }) => id}
      csv="streams"
      columns={[
        {
          name: texts.id,
          value: ({ description, id }) => description ?? id,
          cell: ({ description, id }) => <Described as={description} id={id} />,
        },
        { name: texts.sinkId, value: ({ id }) => id, isFileOnly: true },
        { name: texts.type, value: ({ type, format }) => `${type} · ${format}` },
        {
          name: texts.state,
          value: ({ state }) => state,
          badge: ({ state }) => TONES[state],
        },
        { name: texts.watermark, end: true, value: ({ watermark_seq: seq }) => seq },
        { name: texts.lag, end: true, value: ({ lag_entries: lag }) => lag },
        {
          name: texts.error,
          value: ({ last_error: error }) => error?.code,
          cell: ({ last_error: error }) =>
            error === null ? (
              '–'
            ) : (
              <>
                <Literal>{error.code}</Literal> <Time at={error.at} />
              </>
            ),
        },
      ]}
    />
  )
}
