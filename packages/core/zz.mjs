import Database from 'better-sqlite3'
import { rmSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
const hex=n=>randomBytes(n).toString('hex')
function bench(page, {prev=true, copies=true, index=true, payload=700, ckpt=4000, batch=48}={}){
  for(const f of ['/tmp/exp/a.db','/tmp/exp/a.db-wal','/tmp/exp/a.db-shm'])rmSync(f,{force:true})
  const db=new Database('/tmp/exp/a.db'); db.pragma('page_size='+page); db.pragma('journal_mode=WAL'); db.pragma('synchronous=FULL'); db.pragma('wal_autocheckpoint='+Math.round(ckpt*4096/page))
  const cols=['org_id','seq',...(prev?['prev_hash']:[]),'hash','recorded_at','kind','commitment','salt','payload',...(copies?['agent_id','actor_id','action','decision']:[])]
  db.exec(`create table e (${cols.map(c=>c+(c==='seq'?' integer':' text')).join(',')}, primary key (org_id, seq))`)
  if(index&&copies)db.exec('create index i on e (org_id, agent_id, seq)')
  const one='('+cols.map(()=>'?').join(',')+')'
  const st=db.prepare(`insert into e (${cols.join(',')}) values ${Array(batch).fill(one).join(',')}`)
  const begin=db.prepare('begin immediate'),commit=db.prepare('commit')
  let seq=0
  const pl='x'.repeat(payload)
  const run=n=>{for(let b=0;b<n;b++){const v=[];for(let i=0;i<batch;i++){v.push('org_aaaaaaaaaaaaaaaaaaaa',seq++,...(prev?[hex(32)]:[]),hex(32),'2026-11-20T08:00:00.000Z','authorization.decided',hex(32),hex(16),pl,...(copies?['payer','key_aaaaaaaaaaaaaaaa','payments.transfer','allow']:[]))}
   begin.run();const t0=process.cpuUsage();st.run(v);const t1=process.cpuUsage(t0);ins+=t1.user+t1.system;const t2=process.cpuUsage();commit.run();const t3=process.cpuUsage(t2);com+=t3.user+t3.system}}
  let ins=0,com=0
  run(100);ins=0;com=0;run(500)
  db.close()
  return `${(ins/500/batch).toFixed(2)} + ${(com/500/batch).toFixed(2)}`
}
for(let r=0;r<2;r++){
for(const p of [4096,8192,16384,32768]) console.log('page',p,bench(p))
console.log('no prev',bench(4096,{prev:false}));console.log('no index',bench(4096,{index:false}));console.log('no copies',bench(4096,{copies:false}));console.log('payload 400',bench(4096,{payload:400}))
console.log('16k payload 400 noprev',bench(16384,{payload:400,prev:false}))
}
