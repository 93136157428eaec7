//! Logging in, accounts, the audit.

use crate::store::{ActorKind, Role, Scope};

words! {
    "account";
    texts {
        log_in,
        login,
        password,
        open_way,
        no_account,
        wrong_login,
        first_admin,
        first_admin_means,
        name,
        name_means,
        password_means,
        again,
        make_account,
        link_over,
        bad_login,
        bad_name,
        login_taken,
        nobody,
        last_admin,
        not_again,
        password_short,
        password_long,
        password_login,
        password_pattern,
        password_common,
        password_same,
        wrong_password,
        account,
        log_out,
        role_label,
        viewer,
        contributor,
        editor,
        admin,
        sessions,
        sessions_means,
        since,
        last_used,
        address,
        browser,
        this_session,
        end_session,
        tokens,
        tokens_means,
        token_made,
        may,
        state,
        revoke,
        make_token,
        days,
        good,
        scope_edit,
        scope_publish,
        scope_report,
        scope_enrol,
        scope_fleet,
        scope_admin,
        no_scope,
        not_your_scope,
        bad_days,
        too_many_tokens,
        new_password,
        new_password_means,
        old,
        new,
        change,
        audit,
        audit_means,
        actor,
        action,
        subject,
        when,
        revisions,
        detail,
        filter,
        no_rows,
        next,
        export,
        kind_person,
        kind_token,
        kind_system,
        openid,
        people,
        people_means,
        operator,
        disable,
        enable,
        add_person,
        no_password_means,
    }
    messages {
        wait(seconds: u64),
        role_and_operator(role: &str),
        revoked(at: &str),
        expired(at: &str),
        good_until(at: &str),
        end_session_of(made: &str),
        revoke_named(name: &str),
        disabled(at: &str),
        role_of(login: &str),
        disable_named(login: &str),
        enable_named(login: &str),
        end_sessions_of(login: &str),
    }
}

impl Words {
    pub(crate) fn role(&self, role: Role) -> &'static str {
        match role {
            Role::Viewer => self.viewer,
            Role::Contributor => self.contributor,
            Role::Editor => self.editor,
            Role::Admin => self.admin,
        }
    }

    pub(crate) fn scope(&self, scope: Scope) -> &'static str {
        match scope {
            Scope::Edit => self.scope_edit,
            Scope::Publish => self.scope_publish,
            Scope::Report => self.scope_report,
            Scope::Enrol => self.scope_enrol,
            Scope::Fleet => self.scope_fleet,
            Scope::Admin => self.scope_admin,
        }
    }

    pub(crate) fn kind(&self, kind: ActorKind) -> &'static str {
        match kind {
            ActorKind::Person => self.kind_person,
            ActorKind::Token => self.kind_token,
            ActorKind::System => self.kind_system,
        }
    }
}
