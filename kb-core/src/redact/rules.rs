//! What its neighbours give away: values behind words such as `password`, names in front of `@`, prompts, and words that look
//! random. Each rule is a regex whose groups are cut.

use super::Kind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Only {
    Always,
    /// Unless it says that there is none, or is a count.
    Value,
    /// If it has a digit or a sign within.
    Odd,
    /// If it looks random, behind a word that names a secret.
    Named,
    /// If it looks random.
    Random,
    /// Such a name in a path, where paths stay.
    Home,
    /// Unless it is the name of an account that all machines have, or a number.
    Name,
    /// If it may be the name of a host.
    Host,
    /// The same, of a word that has a digit, a dot or a dash.
    HostNamed,
    /// The same, unless it counts GPUs or ranks.
    HostLike,
    /// If it is neither a version nor a symbol of a library.
    Peer,
}

pub(super) struct Rule {
    pub(super) regex: &'static str,
    /// The kind of each group, in order; the last one holds for the rest.
    pub(super) cuts: &'static [(Kind, Only)],
    /// Only where lines leave the house for everybody.
    pub(super) guess: bool,
}

const fn rule(regex: &'static str, cuts: &'static [(Kind, Only)]) -> Rule {
    Rule {
        regex,
        cuts,
        guess: false,
    }
}

const fn guess(regex: &'static str, cuts: &'static [(Kind, Only)]) -> Rule {
    Rule {
        regex,
        cuts,
        guess: true,
    }
}

/// What stands behind a name: the sign between and the value, in quotes that may be escaped themselves, or up to a blank.
macro_rules! value {
    () => {
        r#"\s*(?:=>|:=|[=:：＝])\s*(?:!![a-z]+\s+)?(?:\\"((?:[^"\\]|\\[^"])+)|"((?:[^"\\]|\\.)+)|\\'((?:[^'\\]|\\[^'])+)|'((?:[^'\\]|\\.)+)|([^\s"']+))"#
    };
}

const SECRET: &[(Kind, Only)] = &[(Kind::Secrets, Only::Always)];
const VALUE: &[(Kind, Only)] = &[(Kind::Secrets, Only::Value)];
const USER: &[(Kind, Only)] = &[(Kind::Users, Only::Name)];
const HOST: &[(Kind, Only)] = &[(Kind::Hosts, Only::Host)];
const HOST_LIKE: &[(Kind, Only)] = &[(Kind::Hosts, Only::HostLike)];
const PATH: &[(Kind, Only)] = &[(Kind::Paths, Only::Always)];

/// The first rule that finds something at a place decides.
pub(super) const RULES: &[Rule] = &[
    rule(
        r"(?s)(-----BEGIN[A-Z0-9 ]*-----.*?(?:-----END[A-Z0-9 ]*-----|\z)|-----BEGIN.*)",
        SECRET,
    ),
    rule(
        r#"://([^\s/:@"'<>]*):([^\s"'<>]+)@"#,
        &[(Kind::Users, Only::Always), (Kind::Secrets, Only::Always)],
    ),
    rule(r#"://([^\s/:@"'<>]+)@"#, SECRET),
    rule(
        r#"(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?([^"'\r\n]+)"#,
        SECRET,
    ),
    rule(
        r"(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/-]{8,}=*)",
        &[(Kind::Secrets, Only::Odd)],
    ),
    rule(r#"(?i)\bcookie["']?\s*[:=]\s*["']?([^"'\r\n]+)"#, SECRET),
    // Prompts go on to the end of the line: nobody knows where they end.
    rule(
        r#"(?i)(?:\b|_)(?:prompts?|prompt_token_ids|messages|content|input_text|completion)\\?["']?\s*[=:]\s*(\S[^\r\n]*)"#,
        SECRET,
    ),
    rule(
        r#"(?i)["'](?:inputs?|texts?|questions?|query|instructions?|answer|response|output_text|conversation)\\?["']\s*:\s*(\S[^\r\n]*)"#,
        SECRET,
    ),
    rule(
        r#"(?i)\b(?:inputs?|text|question|query|instruction|answer|response)=["']([^"'\r\n]+)"#,
        SECRET,
    ),
    rule(
        r"(?i)(?:\b(?:user (?:query|input|message|question)|generated text)|^\W*(?:instructions?|inputs?|question)|提示词|用户输入)\s*[:：]\s*(\S[^\r\n]*)",
        SECRET,
    ),
    rule(r"(?i)(?:passphrase|passcode)\s*[:=]\s*([^\r\n]+)", SECRET),
    // Tokens that services give out, by how they begin.
    rule(r"\b((?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA|ANPA)[A-Z0-9]{12,})", SECRET),
    rule(
        r"\b((?:AIza|ya29\.|GOCSPX-|gh[pousr]_|github_pat_|gl[a-z]{2,4}-|sk[-_]|pk_|rk_|hf_|xox[a-z]-|xapp-|npm_|pypi-|dckr_pat_|nvapi-|SG\.|dop_v1_|shp[a-z]{2}_|AGE-SECRET-KEY-|eyJ|r8_|gsk_|lin_api_|hv[sbr]\.|AAAA[BCE])[A-Za-z0-9+/=._-]{10,})",
        SECRET,
    ),
    // Telegram's bots and Twilio's keys.
    rule(r"\b([0-9]{8,10}:AA[A-Za-z0-9_-]{20,})", SECRET),
    rule(r"\b((?:SK|AC)[0-9a-f]{32})\b", SECRET),
    rule(r"hooks\.slack\.com/[a-z]+/([A-Za-z0-9/_-]+)", SECRET),
    // Values behind a name that ends in such a word.
    rule(
        concat!(
            r#"(?i)(?:passw(?:or)?d|passwort|passwd|secret|token|credential|apikey|cookie|密码|口令|密钥|令牌)s?(?:[_-]?[0-9]{1,3}|[_-](?:value|hash|base|key_base|old|new|prod|test))?\\?["'`\])]{0,2}"#,
            value!()
        ),
        VALUE,
    ),
    rule(
        concat!(r#"(?i)\bkeys?\\?["'`\])]{0,2}"#, value!()),
        &[(Kind::Secrets, Only::Named)],
    ),
    rule(
        concat!(
            r#"(?:(?i:[_-]keys?|(?:\b|[_-])(?:pwd|pass|pw|auth|sig|signature|creds?|otp|pat|jwt|sas|pin|psk))|[a-z0-9](?:Key|Pwd|Pass|Auth|Signature))\\?["'`\])]{0,2}"#,
            value!()
        ),
        VALUE,
    ),
    // Items of lists and of tuples: `['--token', 'x']`, `{b'token': b'x'}`.
    rule(
        r#"(?i)["'](?:--?)?[a-z0-9_-]*(?:token|secret|passw(?:or)?d|pass|pwd|[_-]key|apikey|passphrase|auth|credentials?)["']\s*[,:]\s*b?["']([^"']+)["']"#,
        VALUE,
    ),
    rule(
        r"(?i)<[a-z0-9_:-]*(?:passw(?:or)?d|token|secret|api[_-]?key|credential)s?(?:\s[^<>]*)?>([^<]+)<",
        VALUE,
    ),
    rule(
        r#"\bcredentials?\s+([^\s:"']+):([^\s"']+)"#,
        &[(Kind::Users, Only::Always), (Kind::Secrets, Only::Always)],
    ),
    rule(
        r"\bthin:([^\s/]+)/([^\s@]+)@",
        &[(Kind::Users, Only::Always), (Kind::Secrets, Only::Always)],
    ),
    rule(concat!(r"[A-Z0-9]PWD", value!()), VALUE),
    rule(
        r#"(?i)(?:\b[a-z][a-z0-9_]*_(?:secret|token|passw(?:or)?d|passwd|api_?key|psk)|\bsession[ _-]?id|\((?:passw(?:or)?d|token|secret)\))\s*[:=]?\s+["']?([^\s"':=,;]{6,})"#,
        &[(Kind::Secrets, Only::Odd)],
    ),
    rule(
        r#"(?i)(?:[?&](?:code|state|sig|signature|nonce|key)|\b[cx]srf[a-z_-]*)=([^\s"'&]+)"#,
        SECRET,
    ),
    rule(
        r#"(?i)\b(?:password|passwd|passphrase|pwd|pin)\s+(?:of|for)\s+["'`]?([^\s"'`]+)["'`]?\s+(?:is|was)[:\s]\s*["'`]?([^\s"'`]+)"#,
        &[(Kind::Users, Only::Name), (Kind::Secrets, Only::Always)],
    ),
    rule(
        r#"(?i)(?:\b(?:mot de passe|contraseña|senha|kennwort|wachtwoord|пароль)|パスワード|비밀번호|密码|口令)\s*(?:[:=：]|\best\b|\bes\b|\bist\b|为|是|は)\s*["'`]?([^\s"'`]+)"#,
        SECRET,
    ),
    rule(
        r#"(?i)\s--?[a-z0-9_-]*(?:token|secret|passw(?:or)?d|pass|pwd|key|passphrase|auth|credentials?)\s+["']?([^\s"'-][^\s"']*)"#,
        SECRET,
    ),
    rule(
        r#"\b(?:curl|wget)\b.*?\s(?:-u|--user)\s*["']?([^\s:"']+):([^\s"']+)"#,
        &[(Kind::Users, Only::Always), (Kind::Secrets, Only::Always)],
    ),
    rule(
        r#"\b(?:sshpass|mysql|mysqldump|redis-cli)\b.*?\s-[pa]\s?["']?([^\s"']+)"#,
        SECRET,
    ),
    rule(
        r#"\b(?:docker|podman|nerdctl|helm)\s+(?:registry\s+)?login\b.*?\s-p\s*["']?([^\s"']+)"#,
        SECRET,
    ),
    // Remote management of servers, and SNMP.
    rule(
        r#"\bip(?:mitool|mi-[a-z]+)\b.*?\s(?:-P|--password)[ =]?["']?([^\s"'-][^\s"']*)"#,
        SECRET,
    ),
    rule(
        r#"\b(?:racadm|ilorest)\b.*?\s-p\s*["']?([^\s"'-][^\s"']*)"#,
        SECRET,
    ),
    rule(r#"\bsnmp[a-z]*\b.*?\s-c\s*["']?([^\s"'-][^\s"']*)"#, SECRET),
    rule(
        r#"\bsnmp[a-z]*\b.*?\s-A\s*["']?([^\s"'-][^\s"']*)["']?(?:.*?\s-X\s*["']?([^\s"'-][^\s"']*))?"#,
        SECRET,
    ),
    rule(
        r#"\bhtpasswd\b.*?\s-[a-zA-Z]*b[a-zA-Z]*\s+(?:\S+\s+)?\S+\s+["']?([^\s"']+)["']?"#,
        SECRET,
    ),
    rule(r#"(?i)\bcommunity string\s*[:=]?\s+["']?([^\s"']+)"#, VALUE),
    rule(r"\becho\s+(\S+)\s*\|\s*sudo\s+-S", SECRET),
    rule(
        r#"(?i)\b(?:(?:pg|mysql_)(?:password|pwd)|pass phrase|(?:ldap )?bind pw)\s+["']?([^\s"']{6,})"#,
        VALUE,
    ),
    rule(r#"(?i)\bpsk\s+"([^"]+)""#, SECRET),
    rule(
        r#"(?i)\b(?:otp|jwt|bearer:|(?:with|using|bad|invalid|expired) (?:token|key))\s+["']?([^\s"']{6,})"#,
        &[(Kind::Secrets, Only::Odd)],
    ),
    rule(
        r#"(?i)\b(?:cookie\s+|php)?(?:sid|sess(?:ion)?_?id)=([^\s;"'&]+)"#,
        SECRET,
    ),
    rule(
        r#"(?i)\b(?:password|passwd|passphrase|pwd)\s+(?:(?:is|was|to|of)\s+)?["'`]?([^\s"'`]+)"#,
        &[(Kind::Secrets, Only::Odd)],
    ),
    rule(
        r#"(?i)\b(?:password|passwd|passphrase|pwd)\s+(?:is|was)[:\s]\s*["'`]?([^\s"'`]+)"#,
        SECRET,
    ),
    // Behind words that other sentences have, too: with a digit in it.
    rule(
        r#"(?i)\b(?:(?:token|secret|api key)\s+(?:is|was)|credentials?|wandb\s+login)[:\s]\s*["'`]?([^\s"'`:=0-9]{0,40}[0-9][^\s"'`]{5,})"#,
        SECRET,
    ),
    rule(
        r#"(?i)\buser\s+([^\s"'`:=]+)\s+pass(?:word)?\s+["'`]?([^\s"'`:=]+)"#,
        &[(Kind::Users, Only::Name), (Kind::Secrets, Only::Odd)],
    ),
    rule(
        r#"(?i)(?:passw(?:or)?d|pass|pwd|token|secret|key|auth|psk)%3D([^\s"'`&%]+)"#,
        SECRET,
    ),
    rule(
        r#"(?:密码|口令|密钥|令牌|パスワード|비밀번호)\s+["'`]?([!-~]{4,})"#,
        VALUE,
    ),
    rule(
        r"(?i)(?:ｐａｓｓ(?:ｗｏｒｄ)?|ｐｗｄ|ｔｏｋｅｎ|ｓｅｃｒｅｔ|ｋｅｙ)\s*[=:＝：]\s*(\S+)",
        SECRET,
    ),
    rule(
        r"(?i)(?:\b|_)(?:api|access|secret|private|auth|session|key|token|password|credential)s?\b(?:[^A-Za-z0-9]+[A-Za-z]{1,12}){0,3}[^A-Za-z0-9]+([A-Za-z0-9+/=_-]{8,})",
        &[(Kind::Secrets, Only::Named)],
    ),
    rule(r"([A-Za-z0-9+/_-]{16,}={0,2})", &[(Kind::Secrets, Only::Random)]),
    // People.
    rule(
        r"(?:^|[^@A-Za-z0-9._%+-])([A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})",
        &[(Kind::Users, Only::Peer)],
    ),
    rule(
        r"(?:^|[^@/A-Za-z0-9._-])([A-Za-z_][A-Za-z0-9_.-]*)@[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}",
        USER,
    ),
    rule(
        r"(?:^|[^@/A-Za-z0-9._-])([A-Za-z_][A-Za-z0-9_.-]*)@([A-Za-z][A-Za-z0-9.-]*)(?:\s+([^\s\]]+)\]\s*[$#%>])?",
        &[
            (Kind::Users, Only::Name),
            (Kind::Hosts, Only::Peer),
            (Kind::Paths, Only::Always),
        ],
    ),
    rule(
        r#"(?i)\b([a-z]:\\+users\\+[^\s"'<>|]+)"#,
        &[(Kind::Users, Only::Always)],
    ),
    rule(
        r"/(?:home|Users)/([A-Za-z_][A-Za-z0-9_.-]*)",
        &[(Kind::Users, Only::Home)],
    ),
    rule(
        r#"(?i)(?:\b|_)(?:user|username|user_name|login|logname|[lr]user|owner|account|acct|uname|userid|user_id|user\.name|user\.email|author|committer|reported-by|signed-off-by|co-authored-by)\\?["']?\s*[=:]\s*(?:\\?"([^"\\]+)|'([^']+)|([^\s"',;()<>]+(?: [A-Z][a-z]+)*))"#,
        USER,
    ),
    rule(
        r#"(?i)\b(?:for|by|of|as|invalid|unknown|new|from|illegal)\s+user(?:name)?\s+["'`]?([A-Za-z0-9_.-]+)"#,
        USER,
    ),
    rule(r#"(?i)\busers?(?:name)?\s+["'`]([^"'`]+)["'`]"#, USER),
    rule(
        r"\b[Uu]ser ([A-Za-z_][A-Za-z0-9_.-]*)(?:\(| from\b| on\b| in\b| at\b| logged\b| has\b| is\b| cannot\b| may\b| not\b|:)",
        USER,
    ),
    rule(r"\b([a-z_][a-z0-9_.-]*) : (?:TTY|PWD|USER)=", USER),
    rule(r"\b([a-z_][a-z0-9_.-]*)\((?:uid|UID)=", USER),
    rule(r"\b(?:uid|gid|euid|groups)=[0-9]+\(([^)]+)\)", USER),
    rule(
        r"\b(?:Accepted|Failed) \S+ for (?:invalid user )?(\S+) from",
        USER,
    ),
    rule(
        r"\bsudo\s+-u\s+(\S+)|\bsu\s+(?:-l\s+|-\s+)([a-z_]\S*)|\(to ([a-z_][a-z0-9_.-]*)\) ([a-z_][a-z0-9_.-]*) on",
        USER,
    ),
    rule(r#"(?i)\buser\s?id\s*=\s*([^\s;"']+)"#, USER),
    rule(r#"\blogin\b.*?\s(?:-u|--username)[ =]["']?([^\s"']+)"#, USER),
    rule(r#"\b(?:CN|cn|uid|UID)=([A-Za-z][^,;/"'\r\n]*)"#, USER),
    rule(r#",\s*(?:OU|ou|DC|dc|O)=([^,;/"'\r\n]+)"#, USER),
    rule(r"用户名?[ :：]+([\p{Han}]{2,4}|[A-Za-z][A-Za-z0-9_.-]*)", USER),
    rule(r#"\b(arn:[a-z-]+:[^\s"',]+)"#, SECRET),
    rule(
        r"\b([0-9]{4}(?:[ -]?[0-9]{4}){3})\b|(\+[0-9]{1,3}(?:[ -]?[0-9]){8,12})\b",
        SECRET,
    ),
    // Paths of people, and other systems' paths.
    guess(r#"\bgit@[A-Za-z0-9.-]+:([^\s"']+)"#, PATH),
    guess(r#"(?:^|[\s"'=(,])((?:home|Users)/[A-Za-z_][^\s"':]*)"#, PATH),
    guess(r#"(?i)(%2F(?:home|users|data|mnt|scratch)%2F[^\s"'&]+)"#, PATH),
    guess(r#"/proc/(?:[0-9]+|self)/(?:root|cwd)(/[^\s"']+)"#, PATH),
    guess(r#"((?:/[^\s"'/\\]+)+(?:\\ [^\s"'\\]*)+)"#, PATH),
    guess(r#"(?:^|[\s"'=:(,])(~[a-z_][a-z0-9_-]*(?:/[^\s"':]*)?)"#, PATH),
    guess(r#"~(/[^\s"':]+)"#, PATH),
    guess(r#"\b([A-Za-z]:\\+[^\s"'<>|]+)"#, PATH),
    guess(r#"(?:^|[\s"'=:(,])(\\\\+[A-Za-z0-9._-]+\\+[^\s"'<>|]+)"#, PATH),
    // With a blank within; without one the end of a path may be known and stays.
    guess(
        r#"["'](/(?:home|Users|Volumes|mnt|data|scratch|opt|srv|work|workspace|nfs|lustre|projects?|shared|storage)/[^"'\s]*[ ][^"'\r\n]*)["']"#,
        PATH,
    ),
    // Hosts that nobody has named.
    guess(r"://(?:[^\s/@]*@)?([A-Za-z0-9.-]*[A-Za-z][A-Za-z0-9.-]*)", HOST),
    guess(
        r"^(?:<[0-9]+>[0-9]* ?)?(?:[A-Z][a-z]{2}\s+[0-9]+\s[0-9:]{8}|[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+)\s+([A-Za-z0-9][A-Za-z0-9._-]*)\s+[A-Za-z0-9_./()-]+(?:\[[0-9]+\])?:",
        HOST,
    ),
    guess(
        r#"(?i)(?:\b|_)(?:host|hostname|hosts|node|nodename|nodelist|node_name|node_list|nodes|server|machine|master_addr|fqdn|endpoint|peer_host)\\?["']?\s*[=:]\s*\\?["']?([A-Za-z][A-Za-z0-9._-]*(?:\[[0-9,-]+\])?)"#,
        &[(Kind::Hosts, Only::HostNamed)],
    ),
    guess(
        r#"(?i)\b(?:host|hostname|node|machine|server)\s+["'`(]?([A-Za-z][A-Za-z0-9.-]*)"#,
        HOST_LIKE,
    ),
    guess(
        r#"(?i)\b(?:connect to host|resolve host(?:name)?|unknown host|master_addr\s*[=:])\s*["'`:]?\s*([A-Za-z][A-Za-z0-9.-]*)"#,
        HOST,
    ),
    guess(r"\b([A-Za-z][A-Za-z0-9.-]*)<[0-9]{1,5}>", HOST_LIKE),
    guess(
        r"(?i)\b(?:reach|ping|connect to|connection to|lost contact with)\s+([A-Za-z][A-Za-z0-9.-]*)",
        &[(Kind::Hosts, Only::HostNamed)],
    ),
    guess(
        r"^([A-Za-z][A-Za-z0-9.-]*[0-9][A-Za-z0-9.-]*)\s+[A-Za-z0-9_./()-]+\[[0-9]+\]:",
        HOST_LIKE,
    ),
    guess(
        r#"(?i)(?:data source|server|initial catalog|database)=([^\s;"']+);"#,
        HOST,
    ),
    guess(r"\bON ([a-z][A-Za-z0-9.-]*) CANCELLED", HOST),
    guess(
        r"\b(?:srun|slurmstepd|slurmd|mpirun|prun|pdsh|prterun|ssh): (?:error: )?([A-Za-z][A-Za-z0-9.-]*): ",
        HOST_LIKE,
    ),
    guess(
        r"^((?:[a-z]+[a-z0-9-]*)?[0-9]+(?:\.[a-z0-9.-]+)?|[a-z]+[a-z0-9-]*[0-9]+[a-z0-9.-]*): ",
        HOST_LIKE,
    ),
    guess(
        r#"(?i)\bpods?[/\s]+["'`]?([a-z0-9][a-z0-9./-]*[0-9][a-z0-9.-]*)"#,
        HOST_LIKE,
    ),
    guess(
        r"\b([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:com|org|net|edu|gov|mil|io|ai|dev|de|fr|uk|ch|eu|cn|jp|kr|local|localdomain|internal|intern|lan|corp|cluster|cloud|svc|home|example|arpa))\b",
        HOST,
    ),
    guess(
        r"\b((?:ip|gpu|node|host|worker|dgx|hgx|compute|login|cn|nid|server|pod|head|slurm|rack)[0-9]*(?:-[A-Za-z0-9]+)*-[A-Za-z]*[0-9]+)\b",
        HOST_LIKE,
    ),
    guess(
        r"\b((?:node|dgx|hgx|nid|cn|compute|gpunode|gpuhost|host|login)[0-9]{1,6}[a-z]?)\b",
        HOST_LIKE,
    ),
];
