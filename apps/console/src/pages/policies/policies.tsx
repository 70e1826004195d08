import { Link, useSearch } from '@tanstack/react-router'
import { useCan } from '../../api/session.ts'
import { t } from '../../texts.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Page, TabLinks } from '../../ui/layout.tsx'
import { CurlButton } from '../../ui/states.tsx'
import { ApprovalRules } from '../approval-rules/list.tsx'
import { PolicyList } from './list.tsx'

export function Policies() {
  const { tab = 'policies' } = useSearch({ from: '/policies' })
  const isRules = tab === 'approval-rules'
  const path = isRules ? '/v1/approval-rules' : '/v1/policies'
  return (
    <Page
      title={t.policies.title}
      actions={
        <>
          <CurlButton request={() => ({ method: 'GET', path })} />
          <New isRules={isRules} />
        </>
      }
      tabs={
        <TabLinks
          label={t.policies.title}
          current={tab}
          tabs={[
            { label: t.policies.policies, value: 'policies' },
            { label: t.policies.approvalRules, value: 'approval-rules' },
          ]}
        />
      }
    >
      {isRules ? <ApprovalRules /> : <PolicyList />}
    </Page>
  )
}

function New({ isRules }: { isRules: boolean }) {
  const can = useCan()
  const mayCreate = can(isRules ? 'POST /v1/approval-rules/{id}' : 'POST /v1/policies')
  if (!mayCreate) return null
  return (
    <Link
      to={isRules ? '/policies/approval-rules/$id' : '/policies/$id'}
      params={{ id: 'new' }}
      className={buttonClass('primary')}
    >
      {isRules ? t.policies.newRule : t.policies.new}
    </Link>
  )
}
