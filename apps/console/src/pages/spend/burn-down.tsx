import type { SpendHistory } from '@remit/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { remit } from '../../api/client.ts'
import { usd } from '../../format/money.ts'
import { t } from '../../texts.ts'
import { Select } from '../../ui/field.tsx'
import { Figure } from '../../ui/figure.tsx'
import { Row, Stack } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import { forecastOf } from './forecast.ts'

type Window = 'day' | 'month'
const WINDOWS = [
  ['day', t.spend.windows.day],
  ['month', t.spend.windows.month],
] as const

/** The spend of one agent in a window, with its cap and where a straight line leads. */
export function BurnDown({ agent }: { agent: string | undefined }) {
  const [window, setWindow] = useState<Window>('day')
  const query = useQuery({
    queryKey: ['spend', 'history', agent, window],
    enabled: agent !== undefined,
    queryFn: ({ signal }) =>
      remit.getSpendHistory({ params: { id: agent ?? '' }, query: { window }, signal }),
  })
  if (agent === undefined) return null
  return (
    <Stack>
      <Row>
        <Select
          label={t.spend.window}
          value={window}
          options={WINDOWS}
          onValue={(value) => setWindow(value === 'month' ? 'month' : 'day')}
        />
      </Row>
      <Loaded query={query}>
        {(history) => <Drawn agent={agent} history={history} isDay={window === 'day'} />}
      </Loaded>
    </Stack>
  )
}

interface DrawnProps {
  readonly agent: string
  readonly history: SpendHistory
  readonly isDay: boolean
}

function Drawn({ agent, history, isDay }: DrawnProps) {
  const { times, series } = useMemo(() => {
    const line = forecastOf(history, isDay)
    return {
      times: line.times,
      series: [
        { label: t.spend.spent, color: '--accent', values: line.spent },
        { label: t.spend.forecast, color: '--muted', values: line.forecast, isDashed: true },
        ...(history.limit_usd === null
          ? []
          : [
              {
                label: t.spend.cap,
                color: '--deny',
                values: line.times.map(() => history.limit_usd),
              },
            ]),
      ],
    }
  }, [history, isDay])
  return (
    <Figure
      title={t.spend.history(agent)}
      timeName={t.spend.at}
      times={times}
      series={series}
      unit={usd}
    />
  )
}
